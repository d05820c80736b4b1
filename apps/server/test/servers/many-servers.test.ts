/** Eighty servers with 2,310 tools at once: the list stays small, `resolve` uses all of them, nothing is started to list them. */
import { gunzipSync } from 'node:zlib'
import { rule } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKeys } from '../../src/auth/api-keys.ts'
import { LOCAL } from '../../src/auth/authenticate.ts'
import { createApp } from '../../src/http/app.ts'

const SERVERS = 80
const TOOLS = 2310
const WORDS =
  'account archive attach branch budget calendar campaign card channel chart city cluster column comment commit company contact container cost customer dashboard database date deal deploy device document domain draft email employee endpoint error event export field file filter folder format function gateway graph group history host image import index invoice issue job key label language layer ledger letter license limit link list location log map market member memory merge message metric model module month network node note object office order organization owner package page panel parameter password path payment person phone pipeline place plan player policy price process product profile project property query queue quote range rate record region release report repository request resource response result review role route row rule sample schedule schema score script search secret section sensor series server service session setting sheet shipment signal site snapshot source space stage state station status step storage store stream subject subscription summary survey symbol table tag task team template tenant text thread ticket timeline token topic track trade transaction trigger type unit update upload usage user value variable vendor version video view volume warehouse webhook week widget window workflow workspace zone'.split(
    ' ',
  )

/** The same words for every run. */
function sequence(seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state
  }
}
const next = sequence(7)
const word = () => WORDS[next() % WORDS.length] as string
const words = (count: number) => Array.from({ length: count }, word).join(' ')

function toolOf(at: number) {
  const properties = Object.fromEntries(
    Array.from({ length: 4 + (next() % 8) }, () => [word(), { type: 'string', description: words(14) }]),
  )
  const name = `${word()}_${word()}_${at}`
  return { name, description: `${words(20 + (next() % 50))}.`, inputSchema: { type: 'object', properties } }
}

let host: HostServices
let app: ReturnType<typeof createApp>
beforeAll(async () => {
  host = createServices({ policy: [rule('*', 'allow')], search: { vectors: false } })
  app = createApp({ host, apiKeys: createApiKeys(host.storage), authenticate: () => LOCAL })
  for (let at = 0; at < SERVERS; at++) {
    const from = Math.floor((at * TOOLS) / SERVERS)
    const to = Math.floor(((at + 1) * TOOLS) / SERVERS)
    const tools = Array.from({ length: to - from }, (_, index) => toolOf(from + index))
    const record = { name: `server-${at}`, command: 'never-started', tools }
    await host.toolkits.register(record, { tier: 'user', userId: LOCAL.userId })
  }
})
afterAll(() => host.close())

const get = async (path: string) => {
  const answer = await app.request(path, { headers: { 'accept-encoding': 'gzip' } })
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(answer.headers.get('content-encoding')).toBe('gzip')
  return { bytes, body: JSON.parse(gunzipSync(bytes).toString()) }
}

describe('eighty servers with 2,310 tools', () => {
  it('are listed without schemas in less than 300 kB, and no server is started', async () => {
    const { bytes, body } = await get('/api/mcp')
    expect(body.toolkits).toHaveLength(SERVERS)
    const tools = body.toolkits.flatMap((toolkit: { tools: object[] }) => toolkit.tools)
    expect(tools).toHaveLength(TOOLS)
    expect(tools[0]).toMatchObject({ name: expect.any(String), ref: expect.any(String), enabled: true })
    expect(tools[0]).not.toHaveProperty('inputSchema')
    expect(bytes.length).toBeLessThan(300_000)
    expect((await host.status()).connections).toEqual([])
    expect(
      body.toolkits.every((toolkit: { state: { status: string } }) => toolkit.state.status === 'disconnected'),
    ).toBe(true)
  })

  it('return their schemas and full descriptions on request', async () => {
    const [listed] = (await get('/api/mcp')).body.toolkits
    const [whole] = (await get('/api/mcp?include=schemas')).body.toolkits
    const one = (await get(`/api/mcp/${listed.id}`)).body
    expect(whole.tools[0].inputSchema).toMatchObject({ type: 'object' })
    expect(one.tools).toEqual(whole.tools)
    const at = whole.tools.findIndex(({ description }: { description: string }) => description.length > 240)
    const preview = listed.tools[at].description
    expect(preview.length).toBeLessThanOrEqual(241)
    expect(whole.tools[at].description.startsWith(preview.slice(0, -1))).toBe(true)
    expect(preview.endsWith('…')).toBe(true)
  })

  it('are all searched by a selection, and none is dropped', async () => {
    const { tools } = (await get('/api/mcp/server-79?include=schemas')).body
    const wanted = tools.at(-1)
    await host.threads.create(LOCAL.userId, { id: 't' })
    const answer = await app.request('/api/threads/t/resolve', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: wanted.name.replaceAll('_', ' '), limit: 3 }),
    })
    const selection = (await answer.json()) as { tools: Array<{ ref: string }>; deferred: number; dropped: object[] }
    expect(selection.tools.map(({ ref }) => ref)).toContain(wanted.ref)
    expect(selection.tools.length + selection.deferred).toBe(TOOLS + 2)
    expect(selection.dropped).toEqual([])
  })
})
