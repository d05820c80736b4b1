/** The audit log: a call is logged before it is sent. Deleting a user removes their entries, and the log still verifies. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const dir = await mkdtemp(join(tmpdir(), 'loadout-audit-'))

//#region example
import { createHost, defineTool } from '@loadout/core'
import { fileJournal } from '@loadout/core/node'

const pay = defineTool({
  name: 'pay',
  inputSchema: { type: 'object', properties: { amount: { type: 'number' }, pin: { type: 'string', writeOnly: true } } },
  annotations: { readOnlyHint: true },
  execute: ({ amount }) => `paid ${amount}`,
})
const host = createHost({ toolkits: { tools: [pay] }, audit: { journal: fileJournal({ dir }) } })
const ann = host.user('ann')

await ann.call('app.pay', { amount: 5, pin: '4711' })

const { items } = await host.ops.audit.list({ userId: 'ann' }, { action: 'mcp_tool_call' })
console.log(items.map(({ ref, outcome, detail }) => [ref, outcome, detail.arguments]))
// [['app.pay', 'ok', undefined], ['app.pay', 'started', { amount: 5, pin: '•••' }]]

await ann.delete()
console.log(await host.ops.audit.verify()) // { ok: true, … }
//#endregion
assert.deepEqual(
  items.map(({ ref, outcome, detail }) => [ref, outcome, detail.arguments]),
  [
    ['app.pay', 'ok', undefined],
    ['app.pay', 'started', { amount: 5, pin: '•••' }],
  ],
)
assert.equal((await host.ops.audit.verify()).ok, true)
assert.deepEqual((await host.ops.audit.list({ userId: 'ann' })).items, [])
await host.close()
await rm(dir, { recursive: true, force: true })
