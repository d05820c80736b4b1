/** Hundreds of tools, and a model that gets the few that it needs. */
import assert from 'node:assert/strict'
//#region example
import { rule } from '@loadout/core'
import { wordVectors } from '@loadout/core/node'
import { createServices } from '@loadout/core/services'

await using host = createServices({ policy: [rule('*', 'allow')], search: { vectors: wordVectors } })

// A toolkit waits until it is needed; this one has two hundred tools.
const tool = (name: string, description: string) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  execute: () => `did ${name}`,
})
const reports = Array.from({ length: 200 }, (_, n) => tool(`report_${n}`, `Makes the report number ${n}.`))
await host.toolkits.register({ id: 'reports', name: 'Reports', tools: reports }, { tier: 'app' })
const mail = [tool('send_message', 'Sends an e-mail.'), tool('list_messages', 'Lists e-mail.')]
await host.toolkits.register({ id: 'mail', name: 'Mail', tools: mail }, { tier: 'app' })
// And this one never waits.
const clock = { id: 'clock', name: 'Clock', tools: [tool('now', 'Tells the time.')], deferLoading: false }
await host.toolkits.register(clock, { tier: 'app' })

const thread = host.thread({ userId: 'ann', threadId: 'monday' })
const selection = await thread.select({ prompt: 'write a letter to Bob', limit: 2, model: 'openai:gpt-5' })

for (const { entry, by, score, reasons } of selection.tools) console.log(entry.modelName, by, score, reasons)
console.log(`${selection.tokens.after} of ${selection.tokens.before} tokens`)

// In the middle of its work the model looks for more: what it finds is there in its next step, and stays.
await selection.call({ name: 'search_tools', arguments: { query: 'report number 42', limit: 1 } })
const next = selection.next()
const done = await next.call({ name: 'mcp_reports_report_42', arguments: { text: 'all of it' } })
const later = await thread.select({ prompt: 'thank you' })
//#endregion
const names = ({ tools }: typeof selection) => tools.map(({ entry }) => entry.modelName)
assert.deepEqual(names(selection)[0], 'mcp_clock_now')
assert.ok(names(selection).includes('mcp_mail_send_message'))
assert.deepEqual(names(selection).at(-1), 'search_tools')
assert.ok(selection.tokens.after < selection.tokens.before / 10)
assert.ok(names(next).includes('mcp_reports_report_42'))
assert.equal(done.status, 'ok')
assert.ok(names(later).includes('mcp_reports_report_42'))
