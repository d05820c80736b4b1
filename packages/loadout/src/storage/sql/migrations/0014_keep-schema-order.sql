ALTER TABLE "mcp"."tools" DROP CONSTRAINT "tools_input_schema_check";--> statement-breakpoint
ALTER TABLE "mcp"."user_server_tools" DROP CONSTRAINT "user_server_tools_input_schema_check";--> statement-breakpoint
ALTER TABLE "mcp"."personal_catalogs" ALTER COLUMN "tools_json" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "mcp"."pins" ALTER COLUMN "manifest_json" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "mcp"."pins" ALTER COLUMN "changed_manifest_json" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "mcp"."tools" ALTER COLUMN "input_schema_json" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "mcp"."user_server_configs" ALTER COLUMN "config_json" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "mcp"."user_server_tools" ALTER COLUMN "input_schema_json" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "mcp"."user_server_tools" ALTER COLUMN "output_schema_json" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "mcp"."tools" ADD CONSTRAINT "tools_input_schema_check" CHECK (json_typeof("mcp"."tools"."input_schema_json") = 'object' AND ("mcp"."tools"."input_schema_json"->>'type') = 'object');--> statement-breakpoint
ALTER TABLE "mcp"."user_server_tools" ADD CONSTRAINT "user_server_tools_input_schema_check" CHECK (json_typeof("mcp"."user_server_tools"."input_schema_json") = 'object' AND ("mcp"."user_server_tools"."input_schema_json"->>'type') = 'object');