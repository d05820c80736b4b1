/** Verifies at each start that the database isolates users, and lists what is missing. */
import { sql } from 'drizzle-orm'
import type { Database } from './sql-transaction.ts'

export async function verifyTenancy(db: Pick<Database, 'execute'>): Promise<string[]> {
  const tables = await query<{ name: string; enabled: boolean; forced: boolean; policies: number }>(
    db,
    sql`select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
          (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'mcp' and c.relkind in ('r', 'p')`,
  )
  const views = await query<{ name: string; invoker: boolean }>(
    db,
    sql`select c.relname as name, coalesce('security_invoker=true' = any(c.reloptions), false)
          or coalesce('security_invoker=on' = any(c.reloptions), false) as invoker
        from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'mcp' and c.relkind = 'v'`,
  )
  const definers = await query<{ name: string }>(
    db,
    sql`select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = 'mcp' and p.prosecdef`,
  )
  const roles = await query<{ name: string }>(
    db,
    sql`select rolname as name from pg_roles
        where rolname in ('loadout_owner', 'loadout_user', 'loadout_system') and (rolsuper or rolbypassrls or rolcanlogin)`,
  )
  return [
    ...tables.flatMap(({ name, enabled, forced, policies }) => [
      ...(enabled ? [] : [`table "${name}" has no row-level security`]),
      ...(forced ? [] : [`table "${name}" does not force row-level security on its owner`]),
      ...(policies > 0 ? [] : [`table "${name}" has no policy`]),
    ]),
    ...views.filter((view) => !view.invoker).map(({ name }) => `view "${name}" is without security_invoker`),
    ...definers.map(({ name }) => `function "${name}" runs with its owner's rights`),
    ...roles.map(({ name }) => `role "${name}" can log in or bypass row-level security`),
  ]
}

async function query<T>(db: Pick<Database, 'execute'>, statement: ReturnType<typeof sql>): Promise<T[]> {
  const result = (await db.execute(statement)) as unknown as { rows: T[] }
  return result.rows
}
