/** A test of an app without its real servers: a test server, a fault, and a recording that is replayed. */
//#region example
import assert from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { startMcpServer, startRecordedServer } from '@loadout/core/testing'

await using host = createHost({
  policy: { rules: [rule('*', 'allow')] },
  drivers: nodeDrivers({ guard: { privateNetwork: true } }), // test servers listen on 127.0.0.1
})
const ann = host.user('ann')

// A server with tools of the test.
await using shop = await startMcpServer({
  name: 'shop',
  tools: [{ name: 'refund', execute: ({ order }) => ({ order, amount: 12.5 }) }],
})
await ann.toolkits.add(shop.toolkit)
const refund = await ann.call('shop.refund', { order: 7 })
assert.equal(refund.status, 'ok')
assert.deepEqual(shop.calls, [{ tool: 'refund', arguments: { order: 7 } }])

// The next call fails.
shop.fail({ kind: 'tool-error', message: 'The order is closed.', times: 1 })
const failed = await ann.call('shop.refund', { order: 8 })
assert.equal(failed.status, 'tool-error')

// Record a server once, then replay its answers without it.
const file = join(await mkdtemp(join(tmpdir(), 'recordings-')), 'shop.json')
for (const mode of ['record', 'replay'] as const) {
  await using recorded = await startRecordedServer({ file, server: shop.toolkit, mode, name: mode })
  await ann.toolkits.add(recorded.toolkit)
  const again = await ann.call(`${mode}.refund`, { order: 9 })
  assert.equal(again.status, 'ok')
}
assert.equal(shop.calls.length, 2) // the replay did not reach the server
//#endregion
