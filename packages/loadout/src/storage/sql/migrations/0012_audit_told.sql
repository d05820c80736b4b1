-- Whose lines are new is told once a batch. Lines that go are told to nobody.
CREATE FUNCTION mcp.notify_lines() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
BEGIN
  PERFORM pg_notify('loadout_changes',
    json_build_array(TG_ARGV[0], whose.user_id, whose.user_id, current_setting('loadout.origin', true))::text)
    FROM (SELECT DISTINCT user_id FROM added) AS whose;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER tell_changes AFTER INSERT ON mcp.audit REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION mcp.notify_lines('audit', 'user_id', 'user');
