CREATE TABLE "mcp"."accounts" (
	"account_id" text NOT NULL,
	"user_id" text NOT NULL,
	"provider" text NOT NULL,
	"subject" text NOT NULL,
	"password_hash" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_pkey" PRIMARY KEY("account_id"),
	CONSTRAINT "accounts__provider__subject" UNIQUE("provider","subject")
);
--> statement-breakpoint
CREATE TABLE "mcp"."sessions" (
	"session_id" text NOT NULL,
	"user_id" text NOT NULL,
	"token_hash" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"address" text,
	"user_agent" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_pkey" PRIMARY KEY("session_id"),
	CONSTRAINT "sessions__token_hash" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "mcp"."sign_in_attempts" (
	"attempts_id" text NOT NULL,
	"count" integer NOT NULL,
	"ends_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "sign_in_attempts_pkey" PRIMARY KEY("attempts_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."sign_in_links" (
	"link_id" text NOT NULL,
	"kind" text NOT NULL,
	"user_id" text,
	"token_hash" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sign_in_links_pkey" PRIMARY KEY("link_id"),
	CONSTRAINT "sign_in_links__token_hash" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "mcp"."users" (
	"user_id" text NOT NULL,
	"email" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"email_verified" boolean NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"last_sign_in_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_pkey" PRIMARY KEY("user_id"),
	CONSTRAINT "users__email" UNIQUE("email")
);
--> statement-breakpoint
ALTER TABLE "mcp"."accounts" ADD CONSTRAINT "accounts_user_fkey" FOREIGN KEY ("user_id") REFERENCES "mcp"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mcp"."sessions" ADD CONSTRAINT "sessions_user_fkey" FOREIGN KEY ("user_id") REFERENCES "mcp"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "accounts_user" ON "mcp"."accounts" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "mcp"."sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_ends" ON "mcp"."sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_in_attempts_ends" ON "mcp"."sign_in_attempts" USING btree ("ends_at");--> statement-breakpoint
CREATE INDEX "sign_in_links_user" ON "mcp"."sign_in_links" USING btree ("user_id");--> statement-breakpoint
-- A table for named callers alone: no user reads it.
CREATE FUNCTION mcp.withhold(tab text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE mcp.%I OWNER TO loadout_owner', tab);
  EXECUTE format('ALTER TABLE mcp.%I ENABLE ROW LEVEL SECURITY', tab);
  EXECUTE format('ALTER TABLE mcp.%I FORCE ROW LEVEL SECURITY', tab);
  EXECUTE format('REVOKE ALL ON mcp.%I FROM PUBLIC, loadout_user', tab);
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION mcp.withhold(text) FROM PUBLIC;
--> statement-breakpoint
SELECT mcp.withhold(tab) FROM unnest(ARRAY['users', 'accounts', 'sessions', 'sign_in_links', 'sign_in_attempts']) AS tab;
--> statement-breakpoint
SELECT mcp.allow_caller(caller, tab, 'any') FROM (VALUES
  ('sign-in', 'users'),
  ('sign-in', 'accounts'),
  ('sign-in', 'sessions'),
  ('sign-in', 'sign_in_links'),
  ('sign-in', 'sign_in_attempts'),
  ('user-admin', 'users'),
  ('user-admin', 'accounts'),
  ('user-admin', 'sessions'),
  ('user-admin', 'sign_in_links'),
  ('housekeeping', 'sessions'),
  ('housekeeping', 'sign_in_links'),
  ('housekeeping', 'sign_in_attempts')
) AS t (caller, tab);
--> statement-breakpoint
-- No user reads them, and the one whom a row names is told that it changed.
SELECT mcp.tell('users', 'users', 'user_id', 'user');
--> statement-breakpoint
SELECT mcp.tell('sessions', 'sessions', 'user_id', 'user');
