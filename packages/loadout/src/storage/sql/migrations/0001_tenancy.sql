-- Users are kept apart by the database itself. Three roles, none of which can log in or bypass row-level security:
--   loadout_owner   owns every table, and through FORCE sees no row of them either
--   loadout_user    one user's work; the transaction-local setting loadout.user_id says whose
--   loadout_system  the few named callers; the transaction-local setting loadout.caller says which
-- Roles belong to the cluster: another database on it may have made them before, or be making them now.
DO $$
DECLARE
  name text;
  modern boolean := current_setting('server_version_num')::int >= 160000;
BEGIN
  FOREACH name IN ARRAY ARRAY['loadout_owner', 'loadout_user', 'loadout_system'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
      END;
    END IF;
    -- From 16 on a role's maker may administer it, and neither act as it nor inherit from it until they say so.
    IF NOT modern THEN
      IF NOT pg_has_role(current_user, name, 'MEMBER') THEN
        EXECUTE format('GRANT %I TO %I', name, current_user);
      END IF;
    ELSIF NOT (pg_has_role(current_user, name, 'SET') AND pg_has_role(current_user, name, 'USAGE')) THEN
      EXECUTE format('GRANT %I TO %I WITH INHERIT TRUE, SET TRUE', name, current_user);
    END IF;
  END LOOP;
END $$;
--> statement-breakpoint
ALTER SCHEMA mcp OWNER TO loadout_owner;
--> statement-breakpoint
GRANT USAGE ON SCHEMA mcp TO loadout_user, loadout_system;
--> statement-breakpoint
-- After a transaction the setting is '', not NULL: both mean nobody.
CREATE FUNCTION mcp.current_user_id() RETURNS text LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('loadout.user_id', true), '') $$;
--> statement-breakpoint
CREATE FUNCTION mcp.current_caller() RETURNS text LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('loadout.caller', true), '') $$;
--> statement-breakpoint
CREATE FUNCTION mcp.gen_prefixed_id(prefix text) RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT prefix || '_' || replace(gen_random_uuid()::text, '-', '') $$;
--> statement-breakpoint
-- A table with user data: a user works on their own rows, and may read the app's where app_rows says so.
CREATE FUNCTION mcp.protect(tab text, user_may text, app_rows boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  own text := 'user_id = (SELECT mcp.current_user_id())';
BEGIN
  EXECUTE format('ALTER TABLE mcp.%I OWNER TO loadout_owner', tab);
  EXECUTE format('ALTER TABLE mcp.%I ENABLE ROW LEVEL SECURITY', tab);
  EXECUTE format('ALTER TABLE mcp.%I FORCE ROW LEVEL SECURITY', tab);
  EXECUTE format('REVOKE ALL ON mcp.%I FROM PUBLIC', tab);
  EXECUTE format('GRANT SELECT ON mcp.%I TO loadout_user', tab);
  EXECUTE format('CREATE POLICY user_read ON mcp.%I FOR SELECT TO loadout_user USING (%s)', tab,
    own || CASE WHEN app_rows THEN ' OR user_id = ''''' ELSE '' END);
  IF user_may IN ('append', 'write') THEN
    EXECUTE format('GRANT INSERT ON mcp.%I TO loadout_user', tab);
    EXECUTE format('CREATE POLICY user_insert ON mcp.%I FOR INSERT TO loadout_user WITH CHECK (%s)', tab, own);
  END IF;
  IF user_may = 'write' THEN
    EXECUTE format('GRANT UPDATE, DELETE ON mcp.%I TO loadout_user', tab);
    EXECUTE format('CREATE POLICY user_update ON mcp.%I FOR UPDATE TO loadout_user USING (%s) WITH CHECK (%s)', tab, own, own);
    EXECUTE format('CREATE POLICY user_delete ON mcp.%I FOR DELETE TO loadout_user USING (%s)', tab, own);
  END IF;
END $$;
--> statement-breakpoint
-- A table that is the same for everyone: read by all, written by named callers.
CREATE FUNCTION mcp.share(tab text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE mcp.%I OWNER TO loadout_owner', tab);
  EXECUTE format('ALTER TABLE mcp.%I ENABLE ROW LEVEL SECURITY', tab);
  EXECUTE format('ALTER TABLE mcp.%I FORCE ROW LEVEL SECURITY', tab);
  EXECUTE format('REVOKE ALL ON mcp.%I FROM PUBLIC', tab);
  EXECUTE format('GRANT SELECT ON mcp.%I TO loadout_user, loadout_system', tab);
  EXECUTE format('CREATE POLICY everyone_reads ON mcp.%I FOR SELECT TO loadout_user, loadout_system USING (true)', tab);
END $$;
--> statement-breakpoint
-- A named caller's reach into a table: 'any' row, the rows of the 'named' user, or the 'app' rows.
CREATE FUNCTION mcp.allow_caller(caller text, tab text, reach text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  condition text := format('(SELECT mcp.current_caller()) = %L', caller) || CASE reach
    WHEN 'any' THEN ''
    WHEN 'named' THEN ' AND user_id = (SELECT mcp.current_user_id())'
    WHEN 'app' THEN ' AND user_id = '''''
  END;
BEGIN
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON mcp.%I TO loadout_system', tab);
  EXECUTE format('CREATE POLICY %I ON mcp.%I FOR ALL TO loadout_system USING (%s) WITH CHECK (%s)',
    'caller:' || caller || ':' || reach, tab, condition, condition);
END $$;
--> statement-breakpoint
-- Tells every process of a committed change: ids only, so that nothing private travels.
CREATE FUNCTION mcp.notify_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed record := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  told text;
  owner text := '';
BEGIN
  EXECUTE format('SELECT ($1).%I', TG_ARGV[1]) USING changed INTO told;
  IF TG_ARGV[2] = 'user' THEN
    EXECUTE 'SELECT ($1).user_id' USING changed INTO owner;
  END IF;
  PERFORM pg_notify('loadout_changes',
    json_build_array(TG_ARGV[0], owner, told, current_setting('loadout.origin', true))::text);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION mcp.tell(tab text, collection text, told_column text, owner text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER tell_changes AFTER INSERT OR UPDATE OR DELETE ON mcp.%I
    FOR EACH ROW EXECUTE FUNCTION mcp.notify_change(%L, %L, %L)', tab, collection, told_column, owner);
END $$;
--> statement-breakpoint
ALTER FUNCTION mcp.current_user_id() OWNER TO loadout_owner;
--> statement-breakpoint
ALTER FUNCTION mcp.current_caller() OWNER TO loadout_owner;
--> statement-breakpoint
REVOKE ALL ON FUNCTION mcp.protect(text, text, boolean), mcp.share(text), mcp.allow_caller(text, text, text), mcp.tell(text, text, text, text) FROM PUBLIC;
--> statement-breakpoint
ALTER TABLE mcp.user_server_configs ALTER COLUMN usco_id SET DEFAULT mcp.gen_prefixed_id('usco');
--> statement-breakpoint
ALTER TABLE mcp.user_server_tools ALTER COLUMN utool_id SET DEFAULT mcp.gen_prefixed_id('utool');
--> statement-breakpoint
COMMENT ON COLUMN mcp.user_server_configs.config_type IS
  'mcp_stdio: a command of the user; mcp_http: a URL of the user; mcp_marketplace: an instance of mcp.servers (server_id IS NOT NULL); custom: a tool collection of the user';
--> statement-breakpoint
COMMENT ON TABLE mcp.user_server_tools IS
  'Discovered tools of configured servers. Tools of marketplace servers are in mcp.tools.';
--> statement-breakpoint
SELECT mcp.share(tab) FROM unnest(ARRAY['servers', 'server_versions', 'tools', 'app_config']) AS tab;
--> statement-breakpoint
SELECT mcp.protect(tab, user_may, app_rows) FROM (VALUES
  ('user_server_configs', 'write', true),
  ('user_server_tools', 'read', true),
  ('pins', 'write', true),
  ('preferences', 'write', false),
  ('threads', 'write', false),
  ('activations', 'write', true),
  ('policy_rules', 'write', true),
  ('credentials', 'write', false),
  ('approvals', 'write', false),
  ('grants', 'write', false),
  ('audit', 'append', false),
  ('usage', 'write', false),
  ('workflows', 'write', false),
  ('workflow_versions', 'write', false),
  ('runs', 'write', false),
  ('steps', 'write', false),
  ('api_keys', 'write', false)
) AS t (tab, user_may, app_rows);
--> statement-breakpoint
SELECT mcp.allow_caller(caller, tab, reach) FROM (VALUES
  ('sign-in', 'api_keys', 'any'),
  ('introspection', 'user_server_tools', 'named'),
  ('introspection', 'user_server_configs', 'named'),
  ('introspection', 'pins', 'named'),
  ('app-config', 'app_config', 'any'),
  ('app-config', 'user_server_configs', 'app'),
  ('app-config', 'user_server_tools', 'app'),
  ('app-config', 'pins', 'app'),
  ('app-config', 'activations', 'app'),
  ('app-config', 'policy_rules', 'app'),
  ('app-config', 'credentials', 'app'),
  ('app-config', 'audit', 'app'),
  ('app-credentials', 'credentials', 'app'),
  ('key-rotation', 'credentials', 'any'),
  ('key-admin', 'api_keys', 'any')
) AS t (caller, tab, reach);
--> statement-breakpoint
SELECT mcp.tell(tab, collection, told, owner) FROM (VALUES
  ('app_config', 'appConfig', 'config_id', 'shared'),
  ('user_server_configs', 'userServerConfigs', 'usco_id', 'user'),
  ('user_server_tools', 'userServerTools', 'usco_id', 'user'),
  ('pins', 'pins', 'usco_id', 'user'),
  ('preferences', 'preferences', 'preferences_id', 'user'),
  ('threads', 'threads', 'thread_id', 'user'),
  ('activations', 'activations', 'thread_id', 'user'),
  ('policy_rules', 'policyRules', 'rule_id', 'user'),
  ('credentials', 'credentials', 'toolkit', 'user'),
  ('approvals', 'approvals', 'approval_id', 'user'),
  ('grants', 'grants', 'grant_id', 'user'),
  ('workflows', 'workflows', 'workflow_id', 'user'),
  ('runs', 'runs', 'run_id', 'user'),
  ('api_keys', 'apiKeys', 'key_id', 'user')
) AS t (tab, collection, told, owner);
