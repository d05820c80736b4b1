/** A program over tools: only what it returns comes back, and what must be asked pauses it. */
import assert from 'node:assert/strict'
//#region example
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { createServices } from '@loadout/core/services'

const orders = Array.from({ length: 200 }, (_, n) => ({ id: `a-${n}`, cents: n * 100 }))
const tool = (name: string, execute: (input: { id: string }) => unknown) => ({
  name,
  description: `The tool ${name}.`,
  execute,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
})
const shop = [tool('list_orders', () => ({ orders })), tool('refund', ({ id }) => `${id} is paid back`)]

await using host = createServices({ executor: quickjs(), policy: [rule('shop.refund', 'ask'), rule('*', 'allow')] })
await host.ready()
await host.toolkits.register({ id: 'shop', name: 'Shop', tools: shop }, { tier: 'app' })
const thread = host.thread({ userId: 'ann', threadId: 'support' })

const dear = await thread.run(`
  const { orders } = await shop.list_orders()
  console.log('there are', orders.length)
  return orders.filter((order: { cents: number }) => order.cents > 19_700).map((order) => order.id)
`)

// A call that must be asked: the program is put away until somebody answers, in whichever process that is.
const paused = await thread.run(`return await shop.refund({ id: 'a-7' })`)
const question = paused.steps[0]?.approvalId ?? ''
await host.approvals.answer('ann', question, { decision: 'allow' })
const done = await host.runs.settled('ann', paused.id)
//#endregion
assert.deepEqual([dear.status, dear.output], ['completed', ['a-198', 'a-199']])
assert.deepEqual(dear.logs, [{ level: 'log', text: 'there are 200' }])
assert.equal(paused.status, 'paused')
assert.deepEqual([done.status, done.output], ['completed', 'a-7 is paid back'])
