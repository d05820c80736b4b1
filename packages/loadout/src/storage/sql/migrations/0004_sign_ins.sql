CREATE TABLE "mcp"."sign_ins" (
	"sign_in_id" text NOT NULL,
	"user_id" text NOT NULL,
	"usco_id" text NOT NULL,
	"issuer" text,
	"expires_at" timestamp (3) with time zone,
	"renewable" boolean NOT NULL,
	"generation" integer NOT NULL,
	"lease_holder" text,
	"lease_until" timestamp (3) with time zone,
	"state_hash" text,
	"state_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sign_ins_pkey" PRIMARY KEY("user_id","sign_in_id"),
	CONSTRAINT "sign_ins__user_id__usco_id" UNIQUE("user_id","usco_id")
);
--> statement-breakpoint
CREATE INDEX "sign_ins_state" ON "mcp"."sign_ins" USING btree ("state_hash");
--> statement-breakpoint
SELECT mcp.protect('sign_ins', 'write', false);
--> statement-breakpoint
SELECT mcp.allow_caller(caller, 'sign_ins', how) FROM (VALUES
  ('app-credentials', 'app'),
  ('sign-in-callback', 'any')
) AS t (caller, how);
--> statement-breakpoint
SELECT mcp.tell('sign_ins', 'signIns', 'usco_id', 'user');
