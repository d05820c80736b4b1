/** A tool whose manifest changes without a change of meaning: shown, never blocked, also for pins and grants of before. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CatalogTool } from '../../src/catalog/catalog-tools.ts'
import { oldFingerprintOf } from '../../src/catalog/fingerprint.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { canonicalJson } from '../../src/schema/json.ts'
import type { ToolView } from '../../src/schema/toolkit/toolkit.ts'

const SET_ORDERED = fileURLToPath(new URL('../fixtures/set-ordered.ts', import.meta.url))
const ann = { tier: 'user', userId: 'ann' } as const
const access = { userId: 'ann' } as const

let folder: string
let file: string
let host: HostServices
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-pins-'))
  file = join(folder, 'starts')
  writeFileSync(file, '0')
  host = createServices({ drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }), policy: [rule('*', 'ask')] })
  await host.toolkits.register({ name: 'kit', command: process.execPath, args: [SET_ORDERED, file] }, ann)
  await look()
})
afterEach(async () => {
  await host.close()
  rmSync(folder, { recursive: true, force: true })
})

const stored = () => host.toolkits.find('ann', 'kit')
/** Starts the server again and asks it for its tools. */
async function look(): Promise<ToolView> {
  const kit = await stored()
  await host.connections.reset(kit.uscoId)
  await host.catalog.introspect(kit, 'ann')
  const [tool] = (await host.views.one('ann', 'kit')).tools
  return tool as ToolView
}
const call = () =>
  host.calls.start({
    userId: 'ann',
    toolkit: 'kit',
    tool: 'search',
    caller: { type: 'direct' as const },
    arguments: { query: 'x', order: 'asc' },
    pauses: {},
  }).outcome
const found = async (): Promise<CatalogTool> => {
  const [tool] = [...(await host.catalog.tools('ann', [await stored()])).values()].flat()
  return tool as CatalogTool
}
const give = async () => host.grants.give({ userId: 'ann', stored: await stored(), found: await found() }, 'allow')

describe('a server that lists its sets in another order at every start', () => {
  it('stays in use, and its tool shows the change', async () => {
    await give()
    for (let start = 0; start < 3; start++) {
      const tool = await look()
      expect(tool.changed).toBeUndefined()
      expect(await call()).toMatchObject({ status: 'ok' })
    }
    writeFileSync(file, '1')
    const { minorChange } = await look()
    const fieldsOf = (manifest: unknown) =>
      (manifest as { inputSchema: { properties: { fields: object } } } | undefined)?.inputSchema.properties.fields
    expect(fieldsOf(minorChange?.from)).toEqual({ type: 'string', default: 'summary,status,assignee' })
    expect(fieldsOf(minorChange?.to)).toEqual({ type: 'string', default: 'status,assignee,summary' })
  })

  it('is blocked, and asks again, after a real change', async () => {
    await give()
    writeFileSync(file, '2!')
    expect((await look()).changed).toBeDefined()
    expect(await call()).toMatchObject({ error: { code: 'tool-changed' } })
    await host.catalog.accept(await stored(), { userId: 'ann' })
    expect((await look()).changed).toBeUndefined()
    expect(await call()).toMatchObject({ error: { code: 'approval-pending' } })
  })
})

describe('after an upgrade', () => {
  /** As the version before stored pins. */
  const downgrade = () =>
    host.storage.transaction({ caller: 'introspection', userId: 'ann' }, async (tx) => {
      for (const pin of await tx.list('pins', { where: { userId: 'ann' } }))
        await tx.update('pins', pin.pinId, { set: { fingerprint: await oldFingerprintOf(pin.manifestJson as never) } })
      for (const tool of await tx.list('userServerTools', { where: { userId: 'ann' } }))
        await tx.update('userServerTools', tool.utoolId, { set: { fingerprint: 'of-before' } })
    })

  it('a stored pin is no change, and a real change is one', async () => {
    await downgrade()
    expect((await look()).changed).toBeUndefined()
    await downgrade()
    writeFileSync(file, '2!')
    expect((await look()).changed).toBeDefined()
  })

  it('a stored grant holds while its tool is as it was', async () => {
    await give()
    const kit = await stored()
    const { manifest } = await found()
    const hash = async (text: string) =>
      Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex')
    const old = await hash(canonicalJson([await hash(kit.row.binding), await oldFingerprintOf(manifest), manifest]))
    await host.storage.transaction(access, async (tx) => {
      for (const grant of await tx.list('grants', { where: { userId: 'ann' } }))
        await tx.update('grants', grant.grantId, { set: { fingerprint: old } })
    })
    expect(await call()).toMatchObject({ status: 'ok' })
    expect(await host.grants.list('ann')).not.toContainEqual(expect.objectContaining({ void: true }))
    writeFileSync(file, '2!')
    await look()
    expect(await host.grants.list('ann')).toMatchObject([{ void: true }])
  })
})
