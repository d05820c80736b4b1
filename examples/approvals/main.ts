/** A call that a person must allow, and an answer that is remembered. */
import assert from 'node:assert/strict'
//#region example
import { defineTool, rule } from '@loadout/core'
import { createServices } from '@loadout/core/services'

const transfer = defineTool({ name: 'transfer', execute: (input) => ({ done: true, ...input }) })
const balance = defineTool({ name: 'balance', annotations: { readOnlyHint: true }, execute: () => 100 })

await using host = createServices({
  tools: [transfer, balance],
  policy: [rule('app.transfer', { allowEdits: true }, 'ask')], // where no rule fits, annotations decide
})
const call = { userId: 'ann', toolkit: 'app', caller: { type: 'direct' as const } }

const read = await host.calls.start({ ...call, tool: 'balance', arguments: {} }).outcome // it says that it only reads

const running = host.calls.start({ ...call, tool: 'transfer', arguments: { cents: 500 } })
const approval = await running.pending // stored: any process may answer it, here or in your UI
await host.approvals.answer('ann', approval.id, { decision: 'allow', arguments: { cents: 5 }, remember: 'tool' })
const outcome = await running.outcome

const again = await host.calls.start({ ...call, tool: 'transfer', arguments: { cents: 7 } }).outcome // not asked any more
//#endregion
assert.equal(read.status, 'ok')
assert.equal(approval.status, 'pending')
assert.deepEqual('content' in outcome && outcome.structuredContent, { done: true, cents: 5 })
assert.deepEqual('content' in again && again.structuredContent, { done: true, cents: 7 })
