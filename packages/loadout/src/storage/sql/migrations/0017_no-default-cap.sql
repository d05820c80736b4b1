-- 16 was the default cap, and every change of a preference stored it. Forced row security hides all rows from an owner.
ALTER TABLE "mcp"."preferences" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
UPDATE "mcp"."preferences" SET "value_json" = "value_json" - 'maxServersPerThread' WHERE "value_json"->>'maxServersPerThread' = '16';--> statement-breakpoint
ALTER TABLE "mcp"."preferences" FORCE ROW LEVEL SECURITY;
