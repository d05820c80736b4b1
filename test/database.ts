import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** A fresh database in the test server, and how to be rid of it. */
export async function createDatabase(serverUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await admin(serverUrl, `create database ${name}`)
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
