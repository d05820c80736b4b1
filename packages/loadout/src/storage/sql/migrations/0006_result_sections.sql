ALTER TABLE "mcp"."results" ADD COLUMN "sections_json" jsonb DEFAULT '[]'::jsonb NOT NULL;
--> statement-breakpoint
SELECT mcp.tell('results', 'results', 'result_id', 'user');
