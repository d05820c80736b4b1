CREATE INDEX "runs_updated" ON "mcp"."runs" USING btree ("updated_at");--> statement-breakpoint
SELECT mcp.allow_caller(caller, tab, 'any') FROM (VALUES ('run-engine', 'runs'), ('run-engine', 'processes'), ('housekeeping', 'runs')) AS t (caller, tab);
