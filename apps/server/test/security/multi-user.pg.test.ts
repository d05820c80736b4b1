/** Two processes' worth of servers on one PostgreSQL, and what must never be found in it, in a log or in an answer. */
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { provenWithin } from '../../../../test/prove/work.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/ops/log.ts'
import { type RunningServer, startServer } from '../../src/serve.ts'

const BOOTSTRAP = `bootstrap-${randomBytes(24).toString('hex')}`
const MASTER = randomBytes(32).toString('base64')
const logged: string[] = []
const answered: string[] = []
let servers: RunningServer[]
let databaseUrl: string
let drop: () => Promise<void>

beforeAll(async () => {
  ;({ url: databaseUrl, drop } = await createDatabase(inject('postgresUrl')))
  const config = readConfig({
    LOADOUT_MODE: 'multi-user',
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: databaseUrl,
    LOADOUT_MASTER_KEY: MASTER,
    LOADOUT_BOOTSTRAP_KEY: BOOTSTRAP,
    LOADOUT_DATA_DIR: join(tmpdir(), 'loadout-never-made'),
  })
  const log = createLog('trace', { write: (line: string) => void logged.push(line) })
  servers = await Promise.all([startServer(config, { log }), startServer(config, { log })])
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()))
  await drop()
})

async function request(
  server: number,
  route: `${string} ${string}`,
  { key = '', body }: { key?: string; body?: unknown } = {},
) {
  const [method, path] = route.split(' ')
  const answer = await fetch(`${servers[server]?.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  answered.push(text)
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}

const newKey = async (userId: string) => {
  const { body } = await request(0, 'POST /api/keys', { key: BOOTSTRAP, body: { name: 'k', userId } })
  answered.pop()
  return body.key as string
}

/** The other server hears of it by itself; `prove:timing` says how soon. */
const eventually = (condition: () => Promise<boolean>) =>
  provenWithin(1000, () => expect.poll(condition, { timeout: 60_000, interval: 10 }).toBe(true))

it('a change on one process is visible on the other', async () => {
  const key = await newKey('watcher')
  const ids = async () => (await request(1, 'GET /api/mcp', { key })).body.toolkits.map((kit: { id: string }) => kit.id)
  expect(await ids()).toEqual([])
  await request(0, 'POST /api/mcp', { key, body: { name: 'Files', command: 'npx' } })
  await eventually(async () => (await ids()).includes('files'))
  await request(0, 'DELETE /api/mcp/files', { key })
  await eventually(async () => !(await ids()).includes('files'))
  const { body } = await request(0, 'GET /api/keys', { key })
  await request(0, `DELETE /api/keys/${body.items[0].id}`, { key })
  await eventually(async () => (await request(1, 'GET /api/mcp', { key })).status === 401)
})

it('20 planted secrets are in no response, no log and no row', async () => {
  const key = await newKey('ann')
  const secrets = Array.from({ length: 20 }, (_, i) => `plant${i}x${randomBytes(12).toString('hex')}`)
  const s = (i: number) => secrets[i] as string
  const bodies: unknown[] = [
    { name: 'a', command: 'npx', env: { TOKEN: s(0), PLAIN: s(1) } },
    { name: 'b', command: 'npx', args: ['--api-key', s(2), `--password=${s(3)}`, s(4)], env: `KEY=${s(5)}` },
    { name: 'c', url: 'https://c.example/mcp', headers: { Authorization: `Bearer ${s(6)}`, 'X-Any': s(7) } },
    { name: 'd', url: `https://u:${s(8)}@d.example/mcp?token=${s(9)}&x=${s(10)}` },
    { name: 'e', url: `https://e.example/${s(11)}/sse`, transport: 'sse', auth: { type: 'bearer', token: s(12) } },
    { name: 'f', url: 'https://f.example', auth: { type: 'oauth', clientId: 'c', clientSecret: s(13) } },
    { name: 'g', url: 'https://g.example', auth: { type: 'headers', headers: { 'X-Key': s(14) } } },
    { serverName: 'h', transport: { kind: 'stdio', spec: { command: 'npx', args: [], env: { A: s(15) } } } },
    // Refused ones: the error must not give back what it refuses.
    { name: 'i', command: 'npx', args: [{ secret: s(16) }], env: { TOKEN: s(17) } },
    { name: 'j', url: `ftp://u:${s(18)}@j.example`, headers: { Authorization: `Bearer ${s(19)}\n` } },
    `{"name":"k","command":"npx","env":{"TOKEN":"${s(17)}"`,
  ]
  const statuses = []
  for (const body of bodies) statuses.push((await request(0, 'POST /api/mcp', { key, body })).status)
  expect(statuses).toEqual([201, 201, 201, 201, 201, 201, 201, 201, 422, 422, 400])
  await request(0, 'PATCH /api/mcp/a', { key, body: { env: { TOKEN: '${secret:env.TOKEN}', PLAIN: s(1) } } })
  await request(1, 'GET /api/mcp', { key })
  await request(0, `GET /api/mcp/a?token=${s(0)}`, { key })
  await request(0, 'GET /api/mcp', { key: s(1) })
  await request(0, 'GET /api/openapi.json')

  const places = { answers: answered.join('\n'), logs: logged.join('\n'), database: await dump(databaseUrl) }
  expect(places.database).toContain('d.example')
  expect(places.logs).toContain('/api/mcp')
  for (const [place, text] of Object.entries(places))
    for (const secret of [...secrets, key, BOOTSTRAP, MASTER])
      expect(text.includes(secret), `${secret} in ${place}`).toBe(false)
})

it('a process with another master key does not start and reports the fix', async () => {
  const start = (more: object) =>
    startServer(
      readConfig({
        LOADOUT_MODE: 'multi-user',
        HOST: '127.0.0.1',
        PORT: '0',
        DATABASE_URL: databaseUrl,
        LOADOUT_DATA_DIR: join(tmpdir(), 'loadout-never-made'),
        ...more,
      }),
      { log: createLog('silent') },
    )
  const other = randomBytes(32).toString('base64')
  const refused = await start({ LOADOUT_MASTER_KEY: other }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'credential-key-lost', action: expect.stringContaining('LOADOUT_MASTER_KEY=') })
  const both = await start({ LOADOUT_MASTER_KEY: `${other},${MASTER}` })
  await both.close()
})

it('a credential row that is copied to another user, toolkit or field does not decrypt', async () => {
  const { createServices, masterKeyRing } = await import('@loadout/core/services')
  const { postgres } = await import('@loadout/core/storage/postgres')
  const host = createServices({ storage: postgres({ url: databaseUrl }), keyRing: await masterKeyRing(MASTER) })
  const { stored } = await host.toolkits.register(
    { name: 'mine', command: 'x', env: { TOKEN: 'ann-only' } },
    { tier: 'user', userId: 'ann' },
  )
  const from = { userId: 'ann', toolkit: stored.uscoId }
  expect(await host.credentials.open(from)).toEqual({ 'env.TOKEN': 'ann-only' })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const copies: Array<[userId: string, toolkit: string, field: string]> = [
    ['eve', stored.uscoId, 'env.TOKEN'],
    ['ann', 'usco_other', 'env.TOKEN'],
    ['ann', 'usco_third', 'env.OTHER'],
  ]
  for (const [userId, toolkit, field] of copies) {
    await client.query(
      `insert into mcp.credentials (credential_id, user_id, toolkit, field, key_id, wrapped_key, iv, ciphertext)
       select $1, $2, $3, $4, key_id, wrapped_key, iv, ciphertext from mcp.credentials where user_id = 'ann' and toolkit = $5`,
      [`copy_${userId}_${toolkit}`, userId, toolkit, field, stored.uscoId],
    )
    await expect(host.credentials.open({ userId, toolkit })).rejects.toMatchObject({ code: 'credential-unreadable' })
  }
  await client.end()
  await host.close()
})

async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows: tables } = await client.query(
    `select schemaname, tablename from pg_tables where schemaname in ('mcp', 'loadout_migrations')`,
  )
  let text = ''
  for (const { schemaname, tablename } of tables) {
    const { rows } = await client.query(`select to_jsonb(t)::text as row from ${schemaname}.${tablename} t`)
    text += rows.map(({ row }) => row).join('\n')
  }
  await client.end()
  return text
}
