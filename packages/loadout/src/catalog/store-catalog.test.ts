/** An introspection writes its status and only new or changed tools. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HttpFaultServer, startFaultServer } from '../../test/fixtures/fault-http.ts'
import type { FaultTool } from '../../test/fixtures/fault-script.ts'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { createServices, type HostServices } from '../host/create-services.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const tool = (name: string, more: object = {}): FaultTool => ({ name, inputSchema: { type: 'object' }, ...more })

let host: HostServices
let server: HttpFaultServer
let changes: string[]
/** Tool list of the server, changed between introspections. */
const script: { tools: FaultTool[] } = { tools: [] }

beforeEach(async () => {
  script.tools = [tool('one'), tool('two', { annotations: { readOnlyHint: true }, title: 'Two' }), { name: 'bad' }]
  server = await startFaultServer(script)
  host = createServices({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  await host.toolkits.register({ name: 'kit', url: server.url }, ann)
  await host.storage.watch((change) => change.kind === 'row' && changes.push(change.collection))
  await look()
})
afterEach(async () => {
  await host.close()
  await server.close()
})

/** Introspects again and returns the collections of the written rows. */
async function look(): Promise<string[]> {
  changes = []
  await host.catalog.introspect(await host.toolkits.find('ann', 'kit'), 'ann')
  return changes.sort()
}
const rows = () =>
  host.storage.transaction({ userId: 'ann' }, async (tx) => {
    const tools = await tx.list('userServerTools')
    return Object.fromEntries(tools.map(({ name, isActive, reason }) => [name, isActive || reason]))
  })
const lookedAt = async () => (await host.toolkits.find('ann', 'kit')).row.introspectedAt?.getTime() ?? 0

describe('a discovery', () => {
  it('without changes writes only its timestamp', async () => {
    const before = await lookedAt()
    const had = await rows()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await look()).toEqual(['userServerConfigs'])
    expect(await lookedAt()).toBeGreaterThan(before)
    expect(await rows()).toEqual(had)
    expect(had).toMatchObject({ one: true, two: true, bad: expect.stringContaining('inputSchema') })
  })

  it('writes only a changed tool and its pin', async () => {
    script.tools[0] = tool('one', { description: 'Another.' })
    expect(await look()).toEqual(['pins', 'userServerConfigs', 'userServerTools'])
    expect((await host.views.one('ann', 'kit')).tools.map(({ name, description }) => [name, description])).toEqual([
      ['one', 'Another.'],
      ['two', undefined],
    ])
    expect(await look()).toEqual(['userServerConfigs'])
  })

  it('writes removed and returned tools once', async () => {
    const [one, two, bad] = script.tools as [FaultTool, FaultTool, FaultTool]
    script.tools = [one, bad]
    expect(await look()).toEqual(['userServerConfigs', 'userServerTools'])
    expect(await rows()).toMatchObject({ two: 'the server no longer lists it' })
    expect(await look()).toEqual(['userServerConfigs'])
    script.tools = [one, two, bad]
    expect(await look()).toEqual(['userServerConfigs', 'userServerTools'])
    expect(await rows()).toMatchObject({ two: true })
  })

  it('stores icons and `_meta` beside the pin, shows them in the toolkit and leaves them out of lists', async () => {
    const icons = [{ src: 'data:image/svg+xml;base64,PHN2Zy8+' }]
    const _meta = { 'example.com/zone': 'b' }
    script.tools[0] = tool('one', { icons, _meta })
    expect(await look()).toEqual(['userServerConfigs', 'userServerTools'])
    const toolView = (await host.views.one('ann', 'kit')).tools[0]
    expect(toolView).toMatchObject({ icons, _meta })
    expect(toolView).not.toHaveProperty('minorChange')
    expect(toolView).not.toHaveProperty('changed')
    expect((await host.views.summaries('ann'))[0]?.tools[0]).toMatchObject({ name: 'one' })
    expect(JSON.stringify(await host.views.summaries('ann'))).not.toContain('PHN2Zy8+')
    const pins = await host.storage.transaction({ userId: 'ann' }, (tx) => tx.list('pins'))
    expect(JSON.stringify(pins)).not.toContain('example.com/zone')
    const { entries } = await host.loadouts.resolve({ userId: 'ann' })
    expect(JSON.stringify(entries)).not.toContain('PHN2Zy8+')
    script.tools[0] = tool('one')
    expect(await look()).toEqual(['userServerConfigs', 'userServerTools'])
    expect((await host.views.one('ann', 'kit')).tools[0]).not.toHaveProperty('icons')
  })

  it('writes a new reason for a skipped tool', async () => {
    script.tools[2] = { name: 'bad', inputSchema: { type: 'string' } }
    expect(await look()).toEqual(['userServerConfigs', 'userServerTools'])
    expect(await look()).toEqual(['userServerConfigs'])
  })
})

it('a catalog lists many tools in server order even if all are written at the same moment', async () => {
  script.tools = Array.from({ length: 1000 }, (_, at) => tool(`tool-${at}`))
  await look()
  const rows = await host.storage.transaction({ userId: 'ann' }, (tx) => tx.list('userServerTools', { limit: 2000 }))
  const names = rows.map(({ name }) => name).filter((name) => name.startsWith('tool-'))
  expect(names).toEqual(script.tools.map(({ name }) => name))
})

describe('a long list or description', () => {
  it('keeps a long description for people, and gives models whole sentences of it', async () => {
    const description = 'It reads one more file of the folder that you name. '.repeat(250).trim()
    script.tools = [tool('long', { description, annotations: { readOnlyHint: true } })]
    await look()
    const { tools, warnings } = await host.views.one('ann', 'kit')
    expect(tools[0]?.description).toBe(description)
    expect(warnings).toEqual([
      expect.stringContaining(`The description of "long" has ${description.length} characters`),
    ])
    const selection = await host
      .thread({ userId: 'ann', threadId: 't' })
      .select({ prompt: 'read the file of the folder' })
    const modelText = selection.tools.find(({ entry }) => entry.ref === 'kit.long')?.entry.manifest.description ?? ''
    expect(modelText.length).toBeLessThanOrEqual(8192)
    expect(modelText).toMatch(/you name\.…$/)
  })

  it('warns in the view when a server lists more tools than are kept', async () => {
    script.tools = Array.from({ length: 2002 }, (_, index) => tool(`tool-${index}`))
    await look()
    const { toolCount, warnings } = await host.views.one('ann', 'kit')
    expect(toolCount).toBe(2000)
    expect(warnings).toContain('The server lists 2002 tools; the first 2000 are kept.')
  })
})
