/** What waits is sealed, too: a rotation takes it along, so that the old key can go. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { masterKeyRing } from '../../src/credentials/master-key.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { memory } from '../../src/storage/memory.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { type HttpFaultServer, startFaultServer } from '../fixtures/fault-http.ts'
import { newKey } from '../fixtures/remote-host.ts'

const [OLD, NEW] = [newKey(), newKey()]
let storage: Storage
let host: HostServices
let server: HttpFaultServer

const open = (keys: string) =>
  createServices({
    // It outlives the processes that share it.
    storage: { ...storage, close: async () => {} },
    keyRing: () => masterKeyRing(keys),
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    policy: [rule('*', { allowEdits: true }, 'ask')],
  })
beforeEach(async () => {
  storage = memory()
  host = open(OLD)
  server = await startFaultServer({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] })
})
afterEach(async () => {
  await host.close()
  await server.close()
})

const keysInUse = () =>
  storage.transaction({ caller: 'key-rotation' }, async (tx) => {
    const [approval] = await tx.list('approvals')
    const [run] = await tx.list('runs')
    const toolkits = run?.inputJson.toolkits as { envelope: { keyId: string } } | undefined
    return [approval?.sealedJson?.keyId, toolkits?.envelope.keyId]
  })

it('key rotation rewraps the toolkits of a waiting run and the arguments of its approval request', async () => {
  const definition = { name: 'one', brings: ['kit'], nodes: [{ id: 'a', type: 'tool', ref: 'kit.say' }] }
  const mcpServers = { kit: { url: server.url, headers: { 'X-Key': 's3cret' } } }
  const { id } = await host.workflows.start('ann', { definition, mcpServers })
  const [question] = await waitForQuestion()
  const [old] = await keysInUse()
  expect(await keysInUse()).toEqual([old, old])

  await host.close()
  host = open(`${NEW},${OLD}`)
  expect(await host.credentials.rotate()).toEqual({ rewrapped: 2, lost: 0 })
  const [fresh] = await keysInUse()
  expect(fresh).not.toBe(old)
  expect(await keysInUse()).toEqual([fresh, fresh])
  expect(await host.credentials.rotate()).toEqual({ rewrapped: 0, lost: 0 })

  await host.close()
  host = open(NEW)
  await host.approvals.answer('ann', question?.id ?? '', { decision: 'allow', arguments: { text: 'edited' } })
  await host.runs.settled('ann', id)
  expect(server.server.calls).toEqual(['say'])
  expect(server.requests.at(-1)?.headers['x-key']).toBe('s3cret')
})

async function waitForQuestion() {
  for (;;) {
    const items = await host.approvals.list('ann')
    if (items.length > 0) return items
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
