/** A program over tools: only its return value comes back, and a call that needs approval pauses it. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineTool, rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { z } from 'zod'

const orders = Array.from({ length: 200 }, (_, n) => ({ id: `a-${n}`, cents: n * 100 }))
const listOrders = defineTool({ name: 'list_orders', description: 'Lists orders.', execute: () => ({ orders }) })
const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  inputSchema: z.object({ id: z.string() }),
  execute: ({ id }) => `${id} is paid back`,
})

await using host = createHost({
  executor: quickjs(),
  policy: { rules: [rule('shop.refund', 'ask'), rule('*', 'allow')] },
})
await host.toolkits.add({ name: 'shop', tools: [listOrders, refund] })
const ann = host.user('ann')
const thread = ann.thread('support')

const expensive = await thread.run(`
  const { orders } = await shop.list_orders()
  console.log('there are', orders.length)
  return orders.filter((order: { cents: number }) => order.cents > 19_700).map((order) => order.id)
`)

// A call that needs approval pauses the program. Any process can continue it.
const paused = await thread.run(`return await shop.refund({ id: 'a-7' })`)
for (const { id } of paused.pending) await ann.approvals.allow(id)
const finished = await ann.runs.wait(paused.id)
//#endregion
assert.deepEqual([expensive.status, expensive.output], ['completed', ['a-198', 'a-199']])
assert.deepEqual(expensive.logs, [{ level: 'log', text: 'there are 200' }])
assert.equal(paused.status, 'paused')
assert.deepEqual([finished.status, finished.output], ['completed', 'a-7 is paid back'])
