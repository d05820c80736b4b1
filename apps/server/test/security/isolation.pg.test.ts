/** The same meeting of two users as in memory, on a real server with API keys over a real PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { type RunningServer as McpServer, startHttpServer } from '../../../../test/real-servers.ts'
import { readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/ops/log.ts'
import { type RunningServer, startServer } from '../../src/serve.ts'
import { findLeaks, type IsolationApp } from '../support/isolation.ts'
import { OPERATOR, USERS, type Who } from '../support/isolation-routes.ts'

const BOOTSTRAP = `bootstrap-${randomBytes(24).toString('hex')}`
let database: Awaited<ReturnType<typeof createDatabase>>
let server: RunningServer
let mcp: McpServer

beforeEach(async () => {
  database = await createDatabase(inject('postgresUrl'))
  mcp = await startHttpServer('legacy')
  const config = readConfig({
    LOADOUT_MODE: 'multi-user',
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: database.url,
    LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
    LOADOUT_BOOTSTRAP_KEY: BOOTSTRAP,
    LOADOUT_STDIO: 'on',
    LOADOUT_PRIVATE_NETWORK: 'on',
    LOADOUT_DATA_DIR: join(tmpdir(), 'loadout-never-made'),
  })
  server = await startServer(config, { log: silentLog })
})
afterEach(async () => {
  await server.close()
  await mcp.close()
  await database.drop()
})

/** Each with an API key of their own. */
async function signedIn(): Promise<IsolationApp> {
  const keys = new Map<Who, string>([[OPERATOR, BOOTSTRAP]])
  const send: IsolationApp['fetch'] = (who, path, init) =>
    fetch(server.url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${keys.get(who)}` } })
  const headers = { 'content-type': 'application/json' }
  // Nothing is to be asked here: what is refused is refused because it is another's.
  const rules = JSON.stringify({ rules: [{ pattern: '*', decision: 'allow' }] })
  expect((await send(OPERATOR, '/api/policy', { method: 'PUT', headers, body: rules })).status).toBe(200)
  for (const userId of USERS) {
    const body = JSON.stringify({ name: 'sign-in', userId })
    const answer = await send(OPERATOR, '/api/keys', { method: 'POST', headers, body })
    keys.set(userId, ((await answer.json()) as { key: string }).key)
  }
  return { fetch: send, serverUrl: mcp.url }
}

for (const user of USERS)
  it(`${user} cannot reach any resource of the other user on any route`, async () => {
    const { findings, routes } = await findLeaks(await signedIn(), user)
    expect(findings).toEqual([])
    expect(routes.length).toBeGreaterThan(40)
  })
