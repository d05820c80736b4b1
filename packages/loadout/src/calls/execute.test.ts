/** Retries after a server crash, with a server that exits in each call and logs its input. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { programPath } from '../../../../test/program-path.ts'
import type { FaultScript } from '../../test/fixtures/fault-script.ts'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import type { AppConfigInput } from '../schema/app-config.ts'

const FAULTY = programPath(fileURLToPath(new URL('../../test/fixtures/fault-stdio.ts', import.meta.url)))
const owner = { tier: 'user', userId: 'ann' } as const

let folder: string
let host: HostServices
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-execute-'))
})
afterEach(async () => {
  await host.close()
  rmSync(folder, { recursive: true, force: true })
})

/** How often one call of it reached the server. */
async function madeOf(annotations: object, { more = {}, app = {} }: { more?: object; app?: AppConfigInput } = {}) {
  const script = join(folder, 'script')
  const log = join(folder, 'log')
  const tools = [{ name: 'echo', inputSchema: { type: 'object' }, annotations }]
  writeFileSync(log, '')
  writeFileSync(script, JSON.stringify({ tools, at: { 'tools/call': { do: 'exit' } } } satisfies FaultScript))
  host = createServices({ app, drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
  const server = { name: 'faulty', command: process.execPath, args: [FAULTY, script, log] }
  const { stored } = await host.toolkits.register({ ...server, ...more }, owner)
  await host.catalog.introspect(stored, 'ann')
  await host.catalog.accept(await host.toolkits.find('ann', 'faulty'), { userId: 'ann' })
  const call = { userId: 'ann', toolkit: 'faulty', tool: 'echo', arguments: {}, caller: { type: 'direct' as const } }
  const running = host.calls.start(call)
  void running.pending.then(({ id }) => host.approvals.answer('ann', id, { decision: 'allow' }))
  expect(await running.outcome).toMatchObject({ error: { code: 'server-crashed' } })
  return readFileSync(log, 'utf8').trim().split('\n').length
}

it.each([{ readOnlyHint: true }, { idempotentHint: true }])(
  'a call with %o is retried once after its server crashes',
  async (annotations) => {
    expect(await madeOf(annotations)).toBe(2)
  },
)

it.each([
  ['idempotentHint', { idempotentHint: false }],
  ['readOnlyHint', { readOnlyHint: false }],
])('does not repeat a call whose record revokes %s', async (hint, tightened) => {
  expect(await madeOf({ [hint]: true }, { more: { overrides: { echo: { annotations: tightened } } } })).toBe(1)
})

it('a call of an untrusted server is not retried despite its annotations', async () => {
  expect(await madeOf({ idempotentHint: true }, { app: { trust: { untrusted: ['faulty'] } } })).toBe(1)
  await host.close()
  expect(await madeOf({ readOnlyHint: true }, { more: { untrusted: true } })).toBe(1)
})
