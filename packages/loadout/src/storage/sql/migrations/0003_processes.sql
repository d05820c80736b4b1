CREATE TABLE "mcp"."places" (
	"places_id" text NOT NULL,
	"user_id" text NOT NULL,
	"subject" text NOT NULL,
	"holders_json" jsonb NOT NULL,
	"version" bigint NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "places_pkey" PRIMARY KEY("user_id","places_id"),
	CONSTRAINT "places__user_id__subject" UNIQUE("user_id","subject")
);
--> statement-breakpoint
CREATE TABLE "mcp"."processes" (
	"process_id" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"alive_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "processes_pkey" PRIMARY KEY("process_id")
);
--> statement-breakpoint
ALTER TABLE "mcp"."approvals" ADD COLUMN "process_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "mcp"."calls" ADD COLUMN "process_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "places_updated" ON "mcp"."places" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "approvals_expires" ON "mcp"."approvals" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "usage_window" ON "mcp"."usage" USING btree ("window_start");--> statement-breakpoint
SELECT mcp.share('processes');
--> statement-breakpoint
SELECT mcp.protect('places', 'write', false);
--> statement-breakpoint
SELECT mcp.allow_caller(caller, tab, 'any') FROM (VALUES
  ('housekeeping', 'places'),
  ('housekeeping', 'processes'),
  ('presence', 'processes')
) AS t (caller, tab);
--> statement-breakpoint
-- Pieces go with their result: nobody has to reach for them.
DROP POLICY "caller:housekeeping:any" ON mcp.result_chunks;
--> statement-breakpoint
REVOKE ALL ON mcp.result_chunks FROM loadout_system;
