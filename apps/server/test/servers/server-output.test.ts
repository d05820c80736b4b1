/** What a running server says beside its answers: for its owner, without secrets; of the app's servers for operators. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeDrivers } from '@loadout/core/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { programPath } from '../../../../test/program-path.ts'
import { startHttpServer } from '../../../../test/real-servers.ts'
import { createApp } from '../../src/http/app.ts'
import { type Ask, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

const FAULTY = programPath(
  fileURLToPath(new URL('../../../../packages/loadout/test/fixtures/fault-stdio.ts', import.meta.url)),
)
const SECRET = 'sesame-4711-open'

/** What the server does at a method (`fault-script.ts`). */
interface Script {
  at: Record<string, object>
}

let folder: string
let app: MultiUserApp
let ann: Ask
let operator: Ask
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-output-'))
  app = multiUserApp({ drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
  ann = app.as('ann')
  operator = app.as('olga', 'operator')
})
afterEach(async () => {
  await app.host.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A server that does this at each call. */
function record(script: Script) {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  writeFileSync(file, JSON.stringify(script))
  return { name: 'kit', command: process.execPath, args: [FAULTY, file], env: { API_KEY: SECRET } }
}
const printing = (text: string) => record({ at: { 'tools/call': { do: 'print', text } } })
const call = (ask: Ask) => ask('POST /api/tools/kit/echo/call', { arguments: {} })
const output = async (ask: Ask) => (await ask('GET /api/mcp/kit/output')).body
const textsOf = ({ items }: { items: Array<{ text: string }> }) => items.map(({ text }) => text)

/** Ann's call as a stream, with its events. */
async function streamed({ host }: MultiUserApp, toolkit: string, args: object = {}) {
  const hono = createApp({ host, authenticate: () => ({ kind: 'session', userId: 'ann', role: 'user' }) })
  const answer = await hono.request(`/api/tools/${toolkit}/echo/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ arguments: args }),
  })
  const events = (await answer.text()).split('\n\n').flatMap((block) => {
    const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block.trim()) ?? []
    return event === undefined ? [] : [[event, JSON.parse(data ?? '')] as const]
  })
  return { status: answer.status, events }
}

describe('the printed output of a server', () => {
  it('is available line by line while the server runs, without secrets and terminal control codes', async () => {
    await ann('POST /api/mcp', printing(`\u001B[31mWarning\u001B[0m: slow\nkey is ${SECRET}\u202E!\n`))
    expect(await output(ann)).toEqual({ running: true, items: [] })
    await call(ann)
    await expect
      .poll(async () => (await output(ann)).items)
      .toEqual([
        { source: 'stderr', text: 'Warning: slow' },
        { source: 'stderr', text: 'key is ••• !' },
      ])
  })

  it('remains after a disconnect until the next start and is deleted with the toolkit', async () => {
    await ann('POST /api/mcp', printing('first words\n'))
    await call(ann)
    await expect.poll(async () => textsOf(await output(ann))).toEqual(['first words'])
    const { uscoId } = (await ann('GET /api/mcp/kit')).body
    await app.host.connections.reset(uscoId, 'ann')
    expect(await output(ann)).toEqual({ running: false, items: [{ source: 'stderr', text: 'first words' }] })
    await ann('POST /api/mcp/kit/introspect')
    expect(await output(ann)).toEqual({ running: true, items: [] })
    await ann('DELETE /api/mcp/kit')
    await ann('POST /api/mcp', { name: 'kit', url: 'http://127.0.0.1:9/mcp', enabled: false })
    expect(await output(ann)).toEqual({ running: false, items: [] })
  })

  it('is bounded and keeps the newest part', async () => {
    await ann('POST /api/mcp', printing(`${'x'.repeat(200)}\n`.repeat(2000)))
    await call(ann)
    await expect.poll(async () => textsOf(await output(ann)).join('\n').length).toBeGreaterThan(4000)
    expect(textsOf(await output(ann)).join('\n').length).toBeLessThanOrEqual(8000)
  })

  it('is hidden from other users’ requests and visible to operators only for an app server', async () => {
    await ann('POST /api/mcp', printing('of ann\n'))
    await call(ann)
    expect((await app.as('bob')('GET /api/mcp/kit/output')).status).toBe(404)
    await operator('POST /api/app/toolkits', { ...printing('of the app\n'), name: 'shop' })
    await operator('POST /api/tools/shop/echo/call', { arguments: {} })
    expect(await ann('GET /api/mcp/shop/output')).toMatchObject({ status: 403 })
    const seen = async () => textsOf((await operator('GET /api/mcp/shop/output')).body)
    await expect.poll(seen).toEqual(['of the app'])
  })
})

describe('the log messages of a server', () => {
  const logging = (data: unknown, more: { count?: number; logger?: string } = {}): Script => ({
    at: {
      'tools/call': {
        do: 'notify',
        method: 'notifications/message',
        count: more.count ?? 1,
        params: { level: 'warning', data, ...(more.logger === undefined ? {} : { logger: more.logger }) },
      },
    },
  })

  it('are available with level, logger and time beside the output, cleaned and without secrets', async () => {
    await ann('POST /api/mcp', record(logging(`\u001B[1mkey ${SECRET}\u001B[0m is old`, { logger: 'auth' })))
    await call(ann)
    expect((await output(ann)).items).toEqual([
      { source: 'log', level: 'warning', logger: 'auth', text: 'key ••• is old', at: expect.stringMatching(/^2/) },
    ])
  })

  it('are shown as JSON if they are not text, and invalid messages are skipped', async () => {
    await ann('POST /api/mcp', record(logging({ rows: 3 })))
    await call(ann)
    expect(textsOf(await output(ann))).toEqual(['{"rows":3}'])
    const odd = { level: 'loud', data: 'x' }
    const script = { at: { 'tools/call': { do: 'notify', method: 'notifications/message', count: 1, params: odd } } }
    await ann('POST /api/mcp', record(script))
    expect((await call(ann)).status).toBe(200)
    expect(textsOf(await output(ann))).toEqual([])
  })

  it('are limited in rate and size', async () => {
    await ann('POST /api/mcp', record(logging('y'.repeat(10_000), { count: 3000 })))
    expect((await call(ann)).status).toBe(200)
    const texts = textsOf(await output(ann))
    expect(texts.length).toBeGreaterThan(0)
    expect(texts.length).toBeLessThanOrEqual(200)
    expect(texts.join('').length).toBeLessThanOrEqual(32_000)
  })

  it('are sent in the stream of their call', async () => {
    await ann('POST /api/mcp', record(logging(`half of ${SECRET} done`)))
    const { events, status } = await streamed(app, 'kit')
    expect(status).toBe(200)
    expect(events).toMatchObject([
      ['started', {}],
      ['log', { level: 'warning', text: 'half of ••• done' }],
      ['result', {}],
    ])
  })

  it('are sent only to the operator for the app’s servers', async () => {
    await operator('POST /api/app/toolkits', { ...record(logging('internals')), name: 'shop' })
    expect((await streamed(app, 'shop')).events.map(([event]) => event)).toEqual(['started', 'result'])
  })

  it.each(['legacy', 'modern'] as const)('includes the log of a %s server over HTTP', async (era) => {
    const server = await startHttpServer(era, { logs: true })
    const world = multiUserApp({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
    try {
      await world.as('ann')('POST /api/mcp', { name: 'kit', url: server.url })
      const { events } = await streamed(world, 'kit', { text: 'hello' })
      expect(events.map(([event]) => event)).toEqual(['started', 'log', 'result'])
      const { items } = await output(world.as('ann'))
      expect(items).toMatchObject([{ source: 'log', level: 'info', logger: 'echo', text: 'echoes hello' }])
    } finally {
      await world.host.close()
      await server.close()
    }
  })
})
