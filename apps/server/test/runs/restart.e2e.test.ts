/** A run that waits for a person, and a restart of everything by `kill -9`: server, stdio servers, and PGlite with its server. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rule } from '@loadout/core'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { type CountingServer, startCountingServer } from '../../../../test/counting-server.ts'
import { createDatabase } from '../../../../test/database.ts'
import { copyPrepared } from '../../../../test/prepare-pglite.ts'
import { FILESYSTEM } from '../../../../test/real-servers.ts'
import { type Program, start } from '../../../../test/run-process.ts'
import type { Answer, Body } from '../support/multi-user-app.ts'

const BOOTSTRAP = `bootstrap-${randomBytes(24).toString('hex')}`
let folder: string
let counting: CountingServer
let programs: Program[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-restart-'))
  counting = await startCountingServer('counting', [{ name: 'note' }])
  programs = []
})
afterEach(async () => {
  await Promise.all(programs.map((program) => program.end('SIGKILL')))
  await counting.close()
  await rm(folder, { recursive: true, force: true })
})

interface Served {
  url: string
  ask(route: `${string} ${string}`, body?: unknown): Promise<Answer>
  kill(): Promise<void>
}

async function serve(env: Record<string, string>): Promise<Pick<Served, 'url' | 'kill'>> {
  const program = start(['apps/server/src/main.ts'], { PORT: '0', LOG_LEVEL: 'silent', ...env })
  programs.push(program)
  const [, url = ''] = await program.says(/Loadout is at (http:\S+)/)
  return { url, kill: async () => void (await program.end('SIGKILL')) }
}

const asking =
  (url: string, key?: string): Served['ask'] =>
  async (route, body) => {
    const [method = 'GET', path] = route.split(' ')
    const headers = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${url}${path}`, { method, headers, ...sent })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as Body) }
  }

const note = (id: string, after: string[]) => ({
  id,
  type: 'tool',
  ref: 'counting.note',
  after,
  arguments: { at: id, for: '{{ input.who }}' },
})
/** One question of a node and one of the policy, with effects before, between and after them. */
const workflow = () => ({
  name: 'waits',
  brings: ['files'],
  nodes: [
    note('before', []),
    { id: 'ok', type: 'approval', message: 'Go on for {{ input.who }}?', after: ['before'] },
    note('between', ['ok']),
    {
      id: 'write',
      type: 'tool',
      ref: 'files.write_file',
      after: ['before'],
      arguments: { path: join(folder, 'out.txt'), content: 'for {{ input.who }}' },
    },
    note('after', ['between', 'write']),
  ],
  output: ['{{ nodes.write.status }}', '{{ nodes.after.output.arguments.for }}'],
})
const files = () => ({ command: process.execPath, args: [FILESYSTEM, folder], env: { TOKEN: 'planted-of-a-run' } })
const RULES = { rules: [rule('counting.*', 'allow'), rule('files.*', 'ask')] }
const KEY_SCOPES = ['read', 'write', 'call', 'approve']
const made = () => counting.calls.map((call) => call.arguments.at)

/** Twice killed while it waits, each time answered by the one that came after. */
async function killedWhileItWaits(open: () => Promise<Served>): Promise<Body> {
  const first = await open()
  expect((await first.ask('POST /api/mcp', { name: 'counting', url: counting.url })).body.state.status).toBe(
    'connected',
  )
  const { body: stored } = await first.ask('POST /api/workflows', workflow())
  const invoked = await first.ask('POST /api/workflow/invoke', {
    workflowId: stored.id,
    input: { who: 'ann' },
    mcpServers: { files: files() },
  })
  expect([invoked.status, invoked.body.status], JSON.stringify(invoked.body)).toEqual([202, 'paused'])
  const { runId } = invoked.body
  await first.kill()

  const answer = async (served: Served, ref: string) => {
    const { body } = await served.ask('GET /api/approvals?status=pending')
    const open = body.items.find((one: Body) => one.ref === ref)
    const { status } = await served.ask(`POST /api/approvals/${open?.id}/answer`, { decision: 'allow' })
    expect(status).toBe(200)
  }
  const second = await open()
  expect((await second.ask(`GET /api/runs/${runId}`)).body.status).toBe('paused')
  expect(made()).toEqual(['before'])
  await answer(second, 'workflow.ok')
  await expect.poll(made).toEqual(['before', 'between'])
  await expect.poll(async () => (await second.ask(`GET /api/runs/${runId}`)).body.status).toBe('paused')
  await second.kill()

  const third = await open()
  await answer(third, 'files.write_file')
  const over = async () => (await third.ask(`GET /api/runs/${runId}`)).body
  await expect.poll(async () => (await over()).status).toBe('completed')
  return over()
}

async function expectOnce(run: Body): Promise<void> {
  expect(run.output).toEqual(['completed', 'ann'])
  expect(made()).toEqual(['before', 'between', 'after'])
  expect(await readFile(join(folder, 'out.txt'), 'utf8')).toBe('for ann')
}

describe('a run that waits for approval', () => {
  it('continues after PGlite on disk is killed with its server', async () => {
    const env = { LOADOUT_DATA_DIR: join(folder, 'data') }
    await copyPrepared(env.LOADOUT_DATA_DIR)
    const open = async () => {
      const served = await serve(env)
      const ask = asking(served.url)
      await ask('PUT /api/policy', RULES)
      return { ...served, ask }
    }
    await expectOnce(await killedWhileItWaits(open))
  })

  it('continues after a restart on PostgreSQL in multi-user mode', async () => {
    const database = await createDatabase(inject('postgresUrl'))
    const env = {
      LOADOUT_MODE: 'multi-user',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      LOADOUT_STDIO: 'on',
      LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
      LOADOUT_BOOTSTRAP_KEY: BOOTSTRAP,
      LOADOUT_DATA_DIR: join(folder, 'data'),
      LOADOUT_PRIVATE_NETWORK: '1',
    }
    let key: string | undefined
    const open = async () => {
      const served = await serve(env)
      const operator = asking(served.url, BOOTSTRAP)
      await operator('PUT /api/policy', RULES)
      key ??= (await operator('POST /api/keys', { name: 'k', userId: 'ann', scopes: KEY_SCOPES })).body.key as string
      return { ...served, ask: asking(served.url, key) }
    }
    await expectOnce(await killedWhileItWaits(open))
    await Promise.all(programs.map((program) => program.end('SIGKILL')))
    await database.drop()
  })
})
