ALTER TABLE "mcp"."user_server_tools" ADD COLUMN "icons_json" json;--> statement-breakpoint
ALTER TABLE "mcp"."user_server_tools" ADD COLUMN "meta_json" json;