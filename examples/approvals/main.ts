/** A call that a person must allow, and a permission that is saved. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineTool, rule } from '@loadout/core'

const transfer = defineTool({ name: 'transfer', execute: (input) => ({ done: true, ...input }) })
const balance = defineTool({ name: 'balance', annotations: { readOnlyHint: true }, execute: () => 100 })

await using host = createHost({
  toolkits: { tools: [transfer, balance] },
  policy: { rules: [rule('app.transfer', { allowEdits: true }, 'ask')] }, // if no rule matches, annotations decide
})
const ann = host.user('ann')

const read = await ann.call('app.balance') // read-only: allowed

const call = ann.call('app.transfer', { cents: 500 })
const approval = await call.approval // stored: any process may answer it, here or in your UI
await ann.approvals.allow(approval.id, { arguments: { cents: 5 }, remember: 'tool' })
const outcome = await call

const again = await ann.call('app.transfer', { cents: 7 }) // no approval: the permission is saved
//#endregion
assert.equal(read.status, 'ok')
assert.equal(approval.status, 'pending')
assert.deepEqual('content' in outcome && outcome.structuredContent, { done: true, cents: 5 })
assert.deepEqual('content' in again && again.structuredContent, { done: true, cents: 7 })
