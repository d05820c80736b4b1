import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { programPath } from '../../../../test/program-path.ts'
import { startFaultServer } from '../../test/fixtures/fault-http.ts'
import { createServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import { createGuardedFetch } from './http/guard/guarded-fetch.ts'
import { nodeDrivers } from './node-drivers.ts'

const FAULTY = programPath(fileURLToPath(new URL('../../test/fixtures/fault-stdio.ts', import.meta.url)))
const MIB = 1024 * 1024

it('maxResponseBytes of the operator applies to stdio and HTTP alike', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loadout-limit-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'script'), '{}')
  const web = await startFaultServer({})
  const events = await startFaultServer({ sse: true })
  onTestFinished(() => Promise.all([web.close(), events.close()]).then(() => {}))
  await using host = createServices({
    policy: [rule('*', 'allow')],
    app: { limits: { argumentBytes: 10 * MIB } },
    drivers: nodeDrivers({ maxResponseBytes: MIB, guard: { privateNetwork: true } }),
  })
  const owner = { tier: 'user', userId: 'ann' } as const
  const command = { name: 'line', command: process.execPath, args: [FAULTY, join(folder, 'script')] }
  for (const record of [command, { name: 'body', url: web.url }, { name: 'event', url: events.url }]) {
    await host.toolkits.register(record, owner)
    const call = { userId: 'ann', toolkit: record.name, tool: 'echo', caller: { type: 'direct' as const } }
    const say = (text: string) => host.calls.start({ ...call, arguments: { text } }).outcome
    expect(await say('x'.repeat(MIB - 10_000)), record.name).toMatchObject({ status: 'ok' })
    expect(await say('x'.repeat(MIB + 10_000)), record.name).toMatchObject({ error: { code: 'response-too-large' } })
  }
})

it('maxResponseBytes does not raise the limit for documents', async () => {
  const http = createServer((_, response) => response.end(Buffer.alloc(11 * MIB, 0x20)))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const guarded = createGuardedFetch({ privateNetwork: true, maxResponseBytes: 20 * MIB })
  onTestFinished(() => guarded.close().then(() => void http.close()))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`
  expect((await (await guarded.fetch(url)).text()).length).toBe(11 * MIB)
  const read = async () => (await guarded.documents(url)).text()
  await expect(read()).rejects.toMatchObject({ code: 'response-too-large' })
})
