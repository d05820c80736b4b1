/** What happened: a call is safe in the log before it is made; a person leaves it, and it stays whole. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const dir = await mkdtemp(join(tmpdir(), 'loadout-audit-'))

//#region example
import { defineTool } from '@loadout/core'
import { fileJournal } from '@loadout/core/node'
import { createServices } from '@loadout/core/services'

const pay = defineTool({
  name: 'pay',
  inputSchema: { type: 'object', properties: { amount: { type: 'number' }, pin: { type: 'string', writeOnly: true } } },
  annotations: { readOnlyHint: true },
  execute: ({ amount }: { amount: number }) => `paid ${amount}`,
})
const host = createServices({ tools: [pay], audit: { journal: fileJournal({ dir }) } })

const thread = host.thread({ userId: 'ann', threadId: 'shop' })
await thread.call({ name: 'app.pay', arguments: { amount: 5, pin: '4711' } })

const { items } = await host.audit.list({ userId: 'ann' }, { action: 'mcp_tool_call' })
console.log(items.map(({ ref, outcome, detail }) => [ref, outcome, detail.arguments]))
// [['app.pay', 'ok', undefined], ['app.pay', 'started', { amount: 5, pin: '•••' }]]

await host.users.remove('ann')
console.log(await host.audit.verify()) // { ok: true, … }
//#endregion
assert.deepEqual(
  items.map(({ ref, outcome, detail }) => [ref, outcome, detail.arguments]),
  [
    ['app.pay', 'ok', undefined],
    ['app.pay', 'started', { amount: 5, pin: '•••' }],
  ],
)
assert.equal((await host.audit.verify()).ok, true)
assert.deepEqual((await host.audit.list({ userId: 'ann' })).items, [])
await host.close()
await rm(dir, { recursive: true, force: true })
