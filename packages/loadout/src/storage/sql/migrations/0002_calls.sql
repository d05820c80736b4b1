CREATE TABLE "mcp"."audit_heads" (
	"head_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "audit_heads_pkey" PRIMARY KEY("head_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."calls" (
	"call_id" text NOT NULL,
	"user_id" text NOT NULL,
	"thread_id" text,
	"run_id" text,
	"ref" text NOT NULL,
	"dedupe_key" text NOT NULL,
	"request_hash" text NOT NULL,
	"status" text NOT NULL,
	"outcome_json" jsonb,
	"approval_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "calls_pkey" PRIMARY KEY("user_id","call_id"),
	CONSTRAINT "calls__user_id__dedupe_key" UNIQUE("user_id","dedupe_key")
);
--> statement-breakpoint
CREATE TABLE "mcp"."result_chunks" (
	"chunk_id" text NOT NULL,
	"user_id" text NOT NULL,
	"result_id" text NOT NULL,
	"seq" integer NOT NULL,
	"first_character" bigint NOT NULL,
	"first_line" integer NOT NULL,
	"text" text NOT NULL,
	CONSTRAINT "result_chunks_pkey" PRIMARY KEY("user_id","chunk_id"),
	CONSTRAINT "result_chunks__user_id__result_id__seq" UNIQUE("user_id","result_id","seq")
);
--> statement-breakpoint
CREATE TABLE "mcp"."results" (
	"result_id" text NOT NULL,
	"user_id" text NOT NULL,
	"call_id" text NOT NULL,
	"ref" text NOT NULL,
	"bytes" bigint NOT NULL,
	"characters" bigint NOT NULL,
	"lines" integer NOT NULL,
	"chunks" integer NOT NULL,
	"is_json" boolean NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "results_pkey" PRIMARY KEY("user_id","result_id")
);
--> statement-breakpoint
ALTER TABLE "mcp"."approvals" ADD COLUMN "fingerprints_json" jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "mcp"."approvals" ADD COLUMN "allow_edits" boolean NOT NULL;--> statement-breakpoint
ALTER TABLE "mcp"."approvals" ADD COLUMN "allow_remember" boolean NOT NULL;--> statement-breakpoint
ALTER TABLE "mcp"."audit" ADD COLUMN "entry_id" text NOT NULL;--> statement-breakpoint
ALTER TABLE "mcp"."audit" ADD COLUMN "prev_hash" text NOT NULL;--> statement-breakpoint
ALTER TABLE "mcp"."audit" ADD COLUMN "content_hash" text NOT NULL;--> statement-breakpoint
ALTER TABLE "mcp"."audit" ADD COLUMN "salt" text;--> statement-breakpoint
ALTER TABLE "mcp"."audit" ADD COLUMN "hash" text NOT NULL;--> statement-breakpoint
ALTER TABLE "mcp"."result_chunks" ADD CONSTRAINT "result_chunks_result_fkey" FOREIGN KEY ("user_id","result_id") REFERENCES "mcp"."results"("user_id","result_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "calls_expires" ON "mcp"."calls" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "results_expires" ON "mcp"."results" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "audit_chain" ON "mcp"."audit" USING btree ("audit_id");--> statement-breakpoint
ALTER TABLE "mcp"."audit" ADD CONSTRAINT "audit__user_id__entry_id" UNIQUE("user_id","entry_id");--> statement-breakpoint
SELECT mcp.share('audit_heads');
--> statement-breakpoint
SELECT mcp.protect(tab, 'write', false) FROM unnest(ARRAY['calls', 'results', 'result_chunks']) AS tab;
--> statement-breakpoint
SELECT mcp.allow_caller(caller, tab, 'any') FROM (VALUES
  ('audit-shipping', 'audit'),
  ('audit-shipping', 'audit_heads'),
  ('audit-reading', 'audit'),
  ('audit-reading', 'audit_heads'),
  ('housekeeping', 'approvals'),
  ('housekeeping', 'calls'),
  ('housekeeping', 'results'),
  ('housekeeping', 'result_chunks'),
  ('housekeeping', 'usage')
) AS t (caller, tab);
--> statement-breakpoint
SELECT mcp.tell('calls', 'calls', 'call_id', 'user');
