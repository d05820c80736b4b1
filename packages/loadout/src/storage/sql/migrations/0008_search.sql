CREATE TABLE "mcp"."loaded_tools" (
	"loaded_tool_id" text NOT NULL,
	"user_id" text NOT NULL,
	"thread_id" text NOT NULL,
	"ref" text NOT NULL,
	"sticky" boolean NOT NULL,
	"loaded_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "loaded_tools_pkey" PRIMARY KEY("user_id","loaded_tool_id"),
	CONSTRAINT "loaded_tools__user_id__thread_id__ref" UNIQUE("user_id","thread_id","ref")
);
--> statement-breakpoint
CREATE TABLE "mcp"."tool_uses" (
	"tool_use_id" text NOT NULL,
	"user_id" text NOT NULL,
	"usco_id" text NOT NULL,
	"tool" text NOT NULL,
	"calls" bigint NOT NULL,
	"successes" bigint NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"examples_json" jsonb NOT NULL,
	CONSTRAINT "tool_uses_pkey" PRIMARY KEY("user_id","tool_use_id"),
	CONSTRAINT "tool_uses__user_id__usco_id__tool" UNIQUE("user_id","usco_id","tool")
);
--> statement-breakpoint
CREATE TABLE "mcp"."tool_vectors" (
	"tool_vector_id" text NOT NULL,
	"user_id" text NOT NULL,
	"embedder" text NOT NULL,
	"fingerprint" text NOT NULL,
	"vector" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "tool_vectors_pkey" PRIMARY KEY("user_id","tool_vector_id"),
	CONSTRAINT "tool_vectors__user_id__embedder__fingerprint" UNIQUE("user_id","embedder","fingerprint")
);
--> statement-breakpoint
CREATE INDEX "loaded_tools_used" ON "mcp"."loaded_tools" USING btree ("used_at");--> statement-breakpoint
CREATE INDEX "tool_uses_last" ON "mcp"."tool_uses" USING btree ("last_used_at");--> statement-breakpoint
CREATE INDEX "tool_vectors_used" ON "mcp"."tool_vectors" USING btree ("used_at");--> statement-breakpoint
SELECT mcp.protect(tab, 'write', app_rows) FROM (VALUES ('loaded_tools', false), ('tool_uses', false), ('tool_vectors', true)) AS t (tab, app_rows);
--> statement-breakpoint
SELECT mcp.allow_caller('housekeeping', tab, 'any') FROM unnest(ARRAY['loaded_tools', 'tool_uses', 'tool_vectors']) AS tab;
--> statement-breakpoint
SELECT mcp.allow_caller('embedding', 'tool_vectors', 'app');
--> statement-breakpoint
SELECT mcp.tell('loaded_tools', 'loadedTools', 'thread_id', 'user');
--> statement-breakpoint
SELECT mcp.tell('tool_uses', 'toolUses', 'usco_id', 'user');
