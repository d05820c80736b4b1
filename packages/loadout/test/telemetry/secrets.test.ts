/** Thirty secrets on every way that a secret can take; none of them is told. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createExecutionContext } from '../../src/context.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { startFaultServer } from '../fixtures/fault-http.ts'
import type { FaultScript } from '../fixtures/fault-script.ts'
import { type RecordedTelemetry, recordTelemetry } from '../fixtures/recorded-telemetry.ts'

const closing: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const planted: string[] = []
const plant = () => {
  const secret = `planted-${crypto.randomUUID()}`
  planted.push(secret)
  return secret
}
const FAULT_STDIO = new URL('../fixtures/fault-stdio.ts', import.meta.url).pathname
const ann = { tier: 'user', userId: 'ann' } as const

function scriptFile(script: FaultScript): string {
  const folder = mkdtempSync(join(tmpdir(), 'loadout-secrets-'))
  closing.push(async () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'script.json')
  writeFileSync(file, JSON.stringify(script))
  return file
}

async function callOnce(host: HostServices, toolkit: string) {
  const request = { userId: 'ann', toolkit, tool: 'echo', caller: { type: 'direct' } as const }
  return host.calls.start({ ...request, arguments: { text: plant(), password: plant() } }).outcome
}

/** What a server can do with what it knows: say it, fail with it, print it as it dies. */
const SCRIPTS: Record<string, () => FaultScript> = {
  fine: () => ({ at: { 'tools/call': { do: 'result', result: { content: [{ type: 'text', text: plant() }] } } } }),
  fails: () => ({ at: { 'tools/call': { do: 'error', code: -32_000, message: plant() } } }),
  dies: () => ({ at: { 'tools/call': { do: 'exit', stderr: plant() } } }),
  mute: () => ({ at: { 'server/discover': { do: 'error', code: -32_000, message: plant() } }, era: 'modern' }),
  odd: () => ({ at: { 'tools/list': { do: 'error', code: -32_000, message: plant() } } }),
}

async function registerAll(host: HostServices): Promise<string[]> {
  const ids: string[] = []
  for (const [name, script] of Object.entries(SCRIPTS)) {
    const http = await startFaultServer(script())
    closing.push(() => http.close())
    const url = `${http.url}?api_key=${plant()}`
    const remote = {
      name: `${name}-http`,
      url,
      headers: { 'X-Key': plant() },
      auth: { type: 'bearer', token: plant() },
    }
    const args = [FAULT_STDIO, scriptFile(script())]
    const local = { name: `${name}-stdio`, command: process.execPath, args, env: { API_TOKEN: plant() } }
    for (const record of [remote, local]) {
      await host.toolkits.register(record, ann)
      ids.push(record.name)
    }
  }
  return ids
}

it('telemetry contains no secret from arguments, results, headers, URLs, environments or errors', async () => {
  const telemetry: RecordedTelemetry = recordTelemetry()
  closing.push(() => telemetry.close())
  const drivers = nodeDrivers({ guard: { privateNetwork: true }, baseEnv: { PATH: '/usr/bin:/bin' } })
  const host = createServices({ policy: [rule('*', 'allow')], drivers, telemetry: telemetry.options })
  closing.push(() => host.close())
  const outcomes: string[] = []
  for (const id of await registerAll(host)) outcomes.push((await callOnce(host, id)).status)
  expect(new Set(outcomes)).toEqual(new Set(['ok', 'tool-error', 'failed']))
  const toolkits = { mine: { command: process.execPath, args: [FAULT_STDIO, scriptFile({})], env: { TOKEN: plant() } } }
  const context = createExecutionContext({ principal: { kind: 'session', userId: 'ann' }, toolkits })
  await using run = await host.setupToolkits(undefined, { context })
  await run.call({ name: 'mine.echo', arguments: { text: plant() } })

  const exported = await telemetry.everything()
  expect(planted.length).toBeGreaterThan(30)
  expect(telemetry.spans().length).toBeGreaterThan(20)
  for (const secret of planted) expect(exported).not.toContain(secret)
  expect(exported).not.toContain('planted')
})
