/** Tools of global toolkits, turned on and off for one user. */
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import type { HostServices } from '@loadout/core/services'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Ask, type MultiUserApp, multiUserApp } from '../../test/support/multi-user-app.ts'

const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, execute: 'return 1' })
const WIKI = { name: 'wiki', tools: [tool('search'), tool('edit'), tool('list')] }

let app: MultiUserApp
let host: HostServices
const ann = () => app.as('ann')
beforeEach(async () => {
  app = multiUserApp({ executor: quickjs(), policy: [rule('*', 'allow')] })
  host = app.host
  await app.as('olga', 'operator')('POST /api/app/toolkits', WIKI)
})
afterEach(() => host.close())

interface ToolSeen {
  name: string
  enabled: boolean
  off?: Array<{ kind: string; tier: string }>
}
const toolsOf = async (ask: Ask): Promise<ToolSeen[]> => (await ask('GET /api/mcp/wiki')).body.tools
const onOf = async (ask: Ask) => (await toolsOf(ask)).filter(({ enabled }) => enabled).map(({ name }) => name)
const switched = (switches: Record<string, unknown>) => ann()('PATCH /api/mcp/wiki', { switches })

describe('a tool of a global toolkit', () => {
  it('is off only for the user who turned it off, on every route, and can be turned on again', async () => {
    const { status, body } = await switched({ edit: false, list: false })
    expect(status).toBe(200)
    const seen = body.tools.find(({ name }: ToolSeen) => name === 'edit')
    expect(seen).toMatchObject({ enabled: false, off: [{ kind: 'activation', tier: 'user' }] })
    expect(await onOf(ann())).toEqual(['search'])
    expect(await onOf(app.as('bob'))).toEqual(['search', 'edit', 'list'])
    const call = await ann()('POST /api/tools/wiki/edit/call', { arguments: {} })
    expect([call.status, call.body.code]).toEqual([403, 'not-carried'])
    expect((await app.as('bob')('POST /api/tools/wiki/edit/call', { arguments: {} })).status).toBe(200)
    await switched({ edit: true, list: true })
    expect(await onOf(ann())).toEqual(['search', 'edit', 'list'])
    expect(await host.activations.list({ userId: 'ann' })).toEqual([])
    expect((await ann()('POST /api/tools/wiki/edit/call', { arguments: {} })).status).toBe(200)
  })

  it('is turned on again even if a wider setting of the same user turned it off', async () => {
    await host.activations.set({ userId: 'ann' }, [{ ref: 'wiki.*', on: false }])
    await switched({ edit: true })
    expect(await onOf(ann())).toEqual(['edit'])
  })

  it('stays off if the operator turned it off', async () => {
    await app.as('olga', 'operator')('PATCH /api/app/toolkits/wiki', { exclude: ['edit'] })
    await switched({ edit: true })
    expect(await onOf(ann())).toEqual(['search', 'list'])
    expect(await host.activations.list({ userId: 'ann' })).toEqual([])
    const seen = (await toolsOf(ann())).find(({ name }) => name === 'edit')
    expect(seen?.off).toMatchObject([{ kind: 'filter', tier: 'app' }])
  })

  it('is matched literally, even if its name looks like a pattern', async () => {
    const named = ['a*', 'ab', '{x,y}', 'x'].map((name) => ({ name, inputSchema: { type: 'object' } }))
    await app.as('olga', 'operator')('POST /api/app/toolkits', {
      name: 'odd',
      url: 'https://odd.example/mcp',
      tools: named,
      enabled: false,
    })
    const { body } = await ann()('PATCH /api/mcp/odd', { switches: { 'a*': false, '{x,y}': false } })
    const on = body.tools.filter(({ enabled }: ToolSeen) => enabled).map(({ name }: ToolSeen) => name)
    expect(on).toEqual(['ab', 'x'])
  })

  it('is turned off together with its toolkit in one request', async () => {
    const { body } = await ann()('PATCH /api/mcp/wiki', { enabled: false, switches: { edit: false } })
    expect(body.enabled).toBe(false)
    await ann()('PATCH /api/mcp/wiki', { enabled: true })
    expect(await onOf(ann())).toEqual(['search', 'list'])
  })

  it('must exist, and its setting must be on or off', async () => {
    const none = await switched({ none: false })
    expect([none.status, none.body.errors]).toEqual([
      422,
      [{ path: 'switches.none', message: 'names no tool of this toolkit' }],
    ])
    for (const wrong of [{ edit: 'no' }, { edit: null }, [], 'edit'])
      expect((await ann()('PATCH /api/mcp/wiki', { switches: wrong })).status).toBe(422)
    expect((await ann()('PATCH /api/mcp/wiki', { switches: { edit: false }, name: 'mine' })).status).toBe(409)
    expect(await onOf(ann())).toEqual(['search', 'edit', 'list'])
  })

  it('reports when its tools were discovered', async () => {
    const now = new Date(Date.now() + 60_000)
    vi.useFakeTimers({ toFake: ['Date'], now })
    await ann()('POST /api/mcp/wiki/introspect')
    const { body } = await ann()('GET /api/mcp/wiki')
    vi.useRealTimers()
    expect(body.discoveredAt).toBe(now.toISOString())
  })
})

describe('a tool in the user’s own toolkit', () => {
  it('is turned on and off in the same way', async () => {
    await ann()('POST /api/mcp', WIKI)
    await switched({ edit: false })
    expect(await onOf(ann())).toEqual(['search', 'list'])
    await switched({ edit: true })
    expect(await onOf(ann())).toEqual(['search', 'edit', 'list'])
  })
})
