CREATE SCHEMA "mcp";
--> statement-breakpoint
CREATE TABLE "mcp"."activations" (
	"activation_id" text NOT NULL,
	"user_id" text NOT NULL,
	"tier" text NOT NULL,
	"thread_id" text DEFAULT '' NOT NULL,
	"ref" text NOT NULL,
	"is_on" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "activations_pkey" PRIMARY KEY("user_id","activation_id"),
	CONSTRAINT "activations__user_id__thread_id__ref" UNIQUE("user_id","thread_id","ref")
);
--> statement-breakpoint
CREATE TABLE "mcp"."api_keys" (
	"key_id" text NOT NULL,
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"hint" text NOT NULL,
	"role" text NOT NULL,
	"scopes_json" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_pkey" PRIMARY KEY("user_id","key_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."app_config" (
	"config_id" text NOT NULL,
	"value_json" jsonb NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "app_config_pkey" PRIMARY KEY("config_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."approvals" (
	"approval_id" text NOT NULL,
	"user_id" text NOT NULL,
	"thread_id" text,
	"run_id" text,
	"call_id" text NOT NULL,
	"ref" text NOT NULL,
	"arguments_json" jsonb NOT NULL,
	"reason" text NOT NULL,
	"caller_json" jsonb NOT NULL,
	"status" text NOT NULL,
	"answered_by" text,
	"answered_at" timestamp (3) with time zone,
	"answer_json" jsonb,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "approvals_pkey" PRIMARY KEY("user_id","approval_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."audit" (
	"audit_id" text NOT NULL,
	"user_id" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"action" text NOT NULL,
	"source" text NOT NULL,
	"thread_id" text,
	"run_id" text,
	"call_id" text,
	"ref" text,
	"outcome" text,
	"detail_json" jsonb NOT NULL,
	CONSTRAINT "audit_pkey" PRIMARY KEY("user_id","audit_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."credentials" (
	"credential_id" text NOT NULL,
	"user_id" text NOT NULL,
	"toolkit" text NOT NULL,
	"field" text NOT NULL,
	"key_id" text NOT NULL,
	"wrapped_key" text NOT NULL,
	"iv" text NOT NULL,
	"ciphertext" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "credentials_pkey" PRIMARY KEY("user_id","credential_id"),
	CONSTRAINT "credentials__user_id__toolkit__field" UNIQUE("user_id","toolkit","field")
);
--> statement-breakpoint
CREATE TABLE "mcp"."grants" (
	"grant_id" text NOT NULL,
	"user_id" text NOT NULL,
	"thread_id" text DEFAULT '' NOT NULL,
	"target" text NOT NULL,
	"ref" text NOT NULL,
	"decision" text NOT NULL,
	"fingerprint" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "grants_pkey" PRIMARY KEY("user_id","grant_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."pins" (
	"pin_id" text NOT NULL,
	"user_id" text NOT NULL,
	"usco_id" text NOT NULL,
	"name" text NOT NULL,
	"fingerprint" text NOT NULL,
	"manifest_json" jsonb NOT NULL,
	"changed_fingerprint" text,
	"changed_manifest_json" jsonb,
	"accepted_by" text NOT NULL,
	"accepted_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "pins_pkey" PRIMARY KEY("user_id","pin_id"),
	CONSTRAINT "pins__user_id__usco_id__name" UNIQUE("user_id","usco_id","name")
);
--> statement-breakpoint
CREATE TABLE "mcp"."policy_rules" (
	"rule_id" text NOT NULL,
	"user_id" text NOT NULL,
	"tier" text NOT NULL,
	"thread_id" text DEFAULT '' NOT NULL,
	"position" integer NOT NULL,
	"rule_json" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "policy_rules_pkey" PRIMARY KEY("user_id","rule_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."preferences" (
	"preferences_id" text NOT NULL,
	"user_id" text NOT NULL,
	"value_json" jsonb NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "preferences_pkey" PRIMARY KEY("user_id","preferences_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."runs" (
	"run_id" text NOT NULL,
	"user_id" text NOT NULL,
	"kind" text NOT NULL,
	"thread_id" text,
	"workflow_version_id" text,
	"status" text NOT NULL,
	"input_json" jsonb NOT NULL,
	"output_json" jsonb,
	"error_json" jsonb,
	"lease_owner" text,
	"lease_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "runs_pkey" PRIMARY KEY("user_id","run_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."server_versions" (
	"sver_id" text NOT NULL,
	"server_id" text NOT NULL,
	"version" text NOT NULL,
	"is_latest" boolean NOT NULL,
	"server_json" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "server_versions_pkey" PRIMARY KEY("sver_id"),
	CONSTRAINT "server_versions__server_id__version" UNIQUE("server_id","version")
);
--> statement-breakpoint
CREATE TABLE "mcp"."servers" (
	"server_id" text NOT NULL,
	"name" text NOT NULL,
	"title" text,
	"description" text,
	"status" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "servers_pkey" PRIMARY KEY("server_id"),
	CONSTRAINT "servers__name" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "mcp"."steps" (
	"step_id" text NOT NULL,
	"user_id" text NOT NULL,
	"run_id" text NOT NULL,
	"seq" integer NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"request_json" jsonb,
	"result_json" jsonb,
	"started_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "steps_pkey" PRIMARY KEY("user_id","step_id"),
	CONSTRAINT "steps__user_id__run_id__seq" UNIQUE("user_id","run_id","seq")
);
--> statement-breakpoint
CREATE TABLE "mcp"."threads" (
	"thread_id" text NOT NULL,
	"user_id" text NOT NULL,
	"title" text NOT NULL,
	"settings_json" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "threads_pkey" PRIMARY KEY("user_id","thread_id")
);
--> statement-breakpoint
CREATE TABLE "mcp"."tools" (
	"tool_id" text NOT NULL,
	"sver_id" text NOT NULL,
	"name" text NOT NULL,
	"title" text,
	"description" text,
	"input_schema_json" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tools_pkey" PRIMARY KEY("tool_id"),
	CONSTRAINT "tools__sver_id__name" UNIQUE("sver_id","name"),
	CONSTRAINT "tools_input_schema_check" CHECK (jsonb_typeof("mcp"."tools"."input_schema_json") = 'object' AND ("mcp"."tools"."input_schema_json"->>'type') = 'object')
);
--> statement-breakpoint
CREATE TABLE "mcp"."usage" (
	"usage_id" text NOT NULL,
	"user_id" text NOT NULL,
	"subject" text NOT NULL,
	"counter" text NOT NULL,
	"window_start" timestamp (3) with time zone NOT NULL,
	"value" bigint NOT NULL,
	CONSTRAINT "usage_pkey" PRIMARY KEY("user_id","usage_id"),
	CONSTRAINT "usage__user_id__subject__counter__window_start" UNIQUE("user_id","subject","counter","window_start"),
	CONSTRAINT "usage_value_check" CHECK ("mcp"."usage"."value" >= 0)
);
--> statement-breakpoint
CREATE TABLE "mcp"."user_server_configs" (
	"usco_id" text NOT NULL,
	"user_id" text NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"config_type" text DEFAULT 'mcp_stdio' NOT NULL,
	"config_json" jsonb NOT NULL,
	"options_json" jsonb NOT NULL,
	"server_id" text,
	"enabled" boolean DEFAULT true NOT NULL,
	"introspection_status" text,
	"introspection_reason" text,
	"introspected_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "user_server_configs_pkey" PRIMARY KEY("user_id","usco_id"),
	CONSTRAINT "user_server_configs__user_id__slug" UNIQUE("user_id","slug"),
	CONSTRAINT "user_server_configs__user_id__name" UNIQUE("user_id","name"),
	CONSTRAINT "user_server_configs_type_check" CHECK ("mcp"."user_server_configs"."config_type" IN ('mcp_stdio', 'mcp_http', 'mcp_marketplace', 'custom')),
	CONSTRAINT "user_server_configs_marketplace_check" CHECK (("mcp"."user_server_configs"."config_type" = 'mcp_marketplace') = ("mcp"."user_server_configs"."server_id" IS NOT NULL)),
	CONSTRAINT "user_server_configs_slug_check" CHECK ("mcp"."user_server_configs"."slug" ~ '^[a-z0-9][a-z0-9_-]{0,47}$')
);
--> statement-breakpoint
CREATE TABLE "mcp"."user_server_tools" (
	"utool_id" text NOT NULL,
	"user_id" text NOT NULL,
	"usco_id" text NOT NULL,
	"name" text NOT NULL,
	"title" text,
	"description" text,
	"input_schema_json" jsonb NOT NULL,
	"output_schema_json" jsonb,
	"annotations_json" jsonb,
	"fingerprint" text NOT NULL,
	"discovered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"reason" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "user_server_tools_pkey" PRIMARY KEY("user_id","utool_id"),
	CONSTRAINT "user_server_tools__user_id__usco_id__name" UNIQUE("user_id","usco_id","name"),
	CONSTRAINT "user_server_tools_input_schema_check" CHECK (jsonb_typeof("mcp"."user_server_tools"."input_schema_json") = 'object' AND ("mcp"."user_server_tools"."input_schema_json"->>'type') = 'object')
);
--> statement-breakpoint
CREATE TABLE "mcp"."workflow_versions" (
	"workflow_version_id" text NOT NULL,
	"user_id" text NOT NULL,
	"workflow_id" text NOT NULL,
	"version" integer NOT NULL,
	"definition_json" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workflow_versions_pkey" PRIMARY KEY("user_id","workflow_version_id"),
	CONSTRAINT "workflow_versions__user_id__workflow_id__version" UNIQUE("user_id","workflow_id","version")
);
--> statement-breakpoint
CREATE TABLE "mcp"."workflows" (
	"workflow_id" text NOT NULL,
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workflows_pkey" PRIMARY KEY("user_id","workflow_id"),
	CONSTRAINT "workflows__user_id__name" UNIQUE("user_id","name")
);
--> statement-breakpoint
ALTER TABLE "mcp"."pins" ADD CONSTRAINT "pins_config" FOREIGN KEY ("user_id","usco_id") REFERENCES "mcp"."user_server_configs"("user_id","usco_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mcp"."server_versions" ADD CONSTRAINT "server_versions_server" FOREIGN KEY ("server_id") REFERENCES "mcp"."servers"("server_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mcp"."steps" ADD CONSTRAINT "steps_run" FOREIGN KEY ("user_id","run_id") REFERENCES "mcp"."runs"("user_id","run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mcp"."tools" ADD CONSTRAINT "tools_version" FOREIGN KEY ("sver_id") REFERENCES "mcp"."server_versions"("sver_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mcp"."user_server_tools" ADD CONSTRAINT "user_server_tools_config" FOREIGN KEY ("user_id","usco_id") REFERENCES "mcp"."user_server_configs"("user_id","usco_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mcp"."workflow_versions" ADD CONSTRAINT "workflow_versions_workflow" FOREIGN KEY ("user_id","workflow_id") REFERENCES "mcp"."workflows"("user_id","workflow_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_hash" ON "mcp"."api_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "approvals_status" ON "mcp"."approvals" USING btree ("user_id","status");--> statement-breakpoint
CREATE INDEX "audit_at" ON "mcp"."audit" USING btree ("user_id","at");--> statement-breakpoint
CREATE INDEX "credentials_key" ON "mcp"."credentials" USING btree ("key_id","credential_id");--> statement-breakpoint
CREATE INDEX "grants_ref" ON "mcp"."grants" USING btree ("user_id","ref");--> statement-breakpoint
CREATE INDEX "policy_rules_thread" ON "mcp"."policy_rules" USING btree ("user_id","thread_id");--> statement-breakpoint
CREATE INDEX "runs_status" ON "mcp"."runs" USING btree ("status","lease_until");--> statement-breakpoint
CREATE INDEX "user_server_configs_server" ON "mcp"."user_server_configs" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "idx_user_server_tools_usco_id" ON "mcp"."user_server_tools" USING btree ("usco_id");--> statement-breakpoint
CREATE INDEX "idx_user_server_tools_active" ON "mcp"."user_server_tools" USING btree ("usco_id","is_active");