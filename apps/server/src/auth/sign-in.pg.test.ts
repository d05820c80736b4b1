/** Sign-in on PostgreSQL: the same cases with two storages on one database, and whole servers with scrypt and a log. */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from '@loadout/core/storage/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { start } from '../../../../test/run-process.ts'
import { SIGN_IN_CASES } from '../../test/support/sign-in-cases.ts'
import { type SignInServers, signInServers, tokenOf } from '../../test/support/sign-in-servers.ts'
import { readConfig } from '../config.ts'
import { createLog } from '../ops/log.ts'
import { type RunningServer, startServer } from '../serve.ts'

describe('sign-in with two processes on one PostgreSQL', () => {
  let world: SignInServers
  let drop: () => Promise<void>
  beforeEach(async () => {
    const database = await createDatabase(inject('postgresUrl'))
    drop = database.drop
    world = await signInServers([postgres({ url: database.url }), postgres({ url: database.url })])
  })
  afterEach(async () => {
    await world.close()
    await drop()
  })
  for (const [name, run] of Object.entries(SIGN_IN_CASES)) it(name, () => run(world))
})

describe('sign-in on complete servers', () => {
  const dataDir = join(tmpdir(), `loadout-sign-in-${randomBytes(4).toString('hex')}`)
  const MASTER = randomBytes(32).toString('base64')
  const PLANTED = ['planted first password', 'planted other password', 'planted wrong password']
  const logged: string[] = []
  const responses: string[] = []
  const tokens: string[] = []
  let servers: RunningServer[]
  let database: Awaited<ReturnType<typeof createDatabase>>

  beforeAll(async () => {
    database = await createDatabase(inject('postgresUrl'))
    const config = readConfig({
      LOADOUT_MODE: 'multi-user',
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: database.url,
      LOADOUT_MASTER_KEY: MASTER,
      LOADOUT_DATA_DIR: dataDir,
    })
    const log = createLog('trace', { write: (line: string) => void logged.push(line) })
    servers = await Promise.all([startServer(config, { log }), startServer(config, { log })])
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()))
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  })

  async function ask(at: number, route: `${string} ${string}`, sent: { body?: unknown; cookie?: string } = {}) {
    const [method = 'GET', path] = route.split(' ')
    const { url = '' } = servers[at] ?? {}
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { origin: url, 'content-type': 'application/json', cookie: sent.cookie ?? '', 'user-agent': 'test' },
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
    })
    const text = await response.text()
    responses.push(text)
    const cookie = response.headers.getSetCookie().map((one) => one.split(';')[0])
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text), cookie: cookie.join('; ') }
  }

  it('works from the printed link to a user on the other server and leaves no password, token or link behind', async () => {
    const [first, second] = servers.map(({ setup }) => setup?.url ?? '')
    expect(tokenOf(first ?? '')).toBe(tokenOf(second ?? ''))
    const token = tokenOf(second ?? '')
    tokens.push(token)
    const olga = { token, email: 'olga@example.com', name: 'Olga', password: PLANTED[0] }
    const setUp = await ask(0, 'POST /api/auth/setup', { body: olga })
    expect(setUp.status).toBe(201)
    expect((await ask(1, 'GET /api/auth/session', { cookie: setUp.cookie })).body.user).toMatchObject({
      operator: true,
    })
    const invited = await ask(1, 'POST /api/users', { body: { email: 'ann@example.com' }, cookie: setUp.cookie })
    responses.pop()
    const invite = tokenOf(invited.body.link.url)
    const ann = await ask(0, 'POST /api/auth/invite', { body: { token: invite, password: PLANTED[1] } })
    expect(ann.status).toBe(200)
    const wrong = { email: 'ann@example.com', password: PLANTED[2] }
    expect((await ask(1, 'POST /api/auth/sign-in', { body: wrong })).status).toBe(401)
    const again = await ask(1, 'POST /api/auth/sign-in', { body: { ...wrong, password: PLANTED[1] } })
    expect(again.status).toBe(200)
    expect((await ask(0, 'GET /api/preferences', { cookie: again.cookie })).status).toBe(200)
    await ask(0, 'POST /api/auth/sign-in', { body: { ...wrong, password: `${PLANTED[2]}${'x'.repeat(500)}` } })
    await ask(0, 'POST /api/auth/sign-in', { body: `{"password":"${PLANTED[2]}` })
    await ask(0, `GET /api/auth/session?password=${encodeURIComponent(PLANTED[0] ?? '')}`)
    const values = [setUp.cookie, ann.cookie, again.cookie].map((cookie) => cookie.split('=')[1]?.split('.')[0] ?? '')
    expect(values.every((value) => value.length > 20)).toBe(true)
    tokens.push(invite, ...values)

    const outputs = { answers: responses.join('\n'), logs: logged.join('\n'), database: await dump(database.url) }
    expect(outputs.database).toContain('ann@example.com')
    expect(outputs.logs).toContain('/api/auth/sign-in')
    for (const [source, text] of Object.entries(outputs))
      for (const secret of [...PLANTED, ...tokens, MASTER])
        expect(text.includes(secret), `${secret} in ${source}`).toBe(false)
  })

  it('hashes passwords with scrypt and a separate salt each', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const { rows } = await client.query('select password_hash from mcp.accounts')
    await client.end()
    expect(rows).toHaveLength(2)
    for (const { password_hash: hash } of rows) expect(hash).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}$/)
  })

  it('hides the sign-in tables from database queries of users', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    for (const table of ['users', 'accounts', 'sessions', 'sign_in_links', 'sign_in_attempts']) {
      await client.query('begin')
      await client.query(`select set_config('role', 'loadout_user', true), set_config('loadout.user_id', 'x', true)`)
      await expect(client.query(`select 1 from mcp.${table}`), table).rejects.toThrow(/permission denied/)
      await client.query('rollback')
      await client.query('begin')
      await client.query(
        `select set_config('role', 'loadout_system', true), set_config('loadout.caller', 'presence', true)`,
      )
      expect((await client.query(`select 1 from mcp.${table}`)).rows, table).toEqual([])
      await client.query('rollback')
    }
    await client.end()
  })
})

describe('two started server programs', () => {
  it('print the same setup link for the first operator once, and none after that', async () => {
    const database = await createDatabase(inject('postgresUrl'))
    const dataDir = join(tmpdir(), `loadout-sign-in-${randomBytes(4).toString('hex')}`)
    const env = {
      LOADOUT_MODE: 'multi-user',
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: database.url,
      LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
      LOADOUT_DATA_DIR: dataDir,
    }
    const run = () => start(['apps/server/src/main.ts'], env)
    const programs = [run(), run()]
    try {
      const links = await Promise.all(
        programs.map(async (one) => new URL((await one.says(/https?:\S+\/setup#\S+/))[0])),
      )
      expect(links[1]?.hash).toBe(links[0]?.hash)
      expect(links[0]?.pathname).toBe('/setup')
      const [here, there] = links.map(({ origin }) => origin)
      const token = links[0]?.hash.slice(1)
      const body = JSON.stringify({ token, email: 'olga@example.com', name: 'Olga', password: 'a good long password' })
      const headers = { 'content-type': 'application/json' }
      const setUp = await fetch(`${there}/api/auth/setup`, { method: 'POST', headers, body })
      expect(setUp.status).toBe(201)
      const cookie = setUp.headers.getSetCookie().map((one) => one.split(';')[0] ?? '')
      const usersResponse = await fetch(`${here}/api/users`, { headers: { cookie: cookie.join('; ') } })
      expect((await usersResponse.json()).items).toMatchObject([{ email: 'olga@example.com', operator: true }])
      programs.push(run())
      await programs[2]?.says(/Loadout is at/)
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(programs[2]?.stdout()).not.toContain('/setup')
      expect(programs.map((one) => one.stderr()).join()).not.toContain(token)
    } finally {
      expect(await Promise.all(programs.map((one) => one.end()))).toEqual(programs.map(() => 0))
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})

async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows: tables } = await client.query(`select tablename from pg_tables where schemaname = 'mcp'`)
  let text = ''
  for (const { tablename } of tables) {
    const { rows } = await client.query(`select to_jsonb(t)::text as row from mcp.${tablename} t`)
    text += rows.map(({ row }) => row).join('\n')
  }
  await client.end()
  return text
}
