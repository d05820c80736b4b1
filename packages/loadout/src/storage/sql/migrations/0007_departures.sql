CREATE TABLE "mcp"."removed_users" (
	"removal_id" text NOT NULL,
	"removed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "removed_users_pkey" PRIMARY KEY("removal_id")
);
--> statement-breakpoint
ALTER TABLE "mcp"."approvals" ADD COLUMN "sealed_json" jsonb;--> statement-breakpoint
ALTER TABLE "mcp"."user_server_configs" ADD COLUMN "binding" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "removed_users_at" ON "mcp"."removed_users" USING btree ("removed_at");--> statement-breakpoint
SELECT mcp.share('removed_users');
--> statement-breakpoint
SELECT mcp.allow_caller(caller, 'removed_users', 'any') FROM (VALUES ('audit-shipping'), ('housekeeping')) AS t (caller);
--> statement-breakpoint
SELECT mcp.tell('removed_users', 'removedUsers', 'removal_id', 'shared');
