import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** Migrated once in the global set-up; `createDatabase` copies it. */
export const TEMPLATE = 'template_loadout'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** Creates a migrated database in the test server. */
export function createDatabase(serverUrl: string): Promise<TestDatabase> {
  return create(serverUrl, TEMPLATE)
}

/** Creates a database without tables, for tests in which the migration is the subject. */
export function createEmptyDatabase(serverUrl: string): Promise<TestDatabase> {
  return create(serverUrl, 'template1')
}

async function create(serverUrl: string, template: string): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await admin(serverUrl, `create database ${name} template ${template}`)
  return { url: `${serverUrl}/${name}`, drop: () => admin(serverUrl, `drop database if exists ${name} with (force)`) }
}

export async function admin(serverUrl: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl.includes('/test_') ? serverUrl : `${serverUrl}/postgres` })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
