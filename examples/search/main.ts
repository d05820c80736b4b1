/** Hundreds of tools, and a model that gets the few that it needs. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineTool, rule } from '@loadout/core'
import { wordVectors } from '@loadout/core/node'

await using host = createHost({ policy: { rules: [rule('*', 'allow')] }, search: { vectors: wordVectors } })
const tool = (name: string, description: string) => defineTool({ name, description, execute: () => `did ${name}` })

// By default tools are deferred: the model gets them when a prompt needs them.
const reports = Array.from({ length: 200 }, (_, n) => tool(`report_${n}`, `Makes the report number ${n}.`))
await host.toolkits.add({ name: 'reports', tools: reports })
const mail = [tool('send_message', 'Sends an e-mail.'), tool('list_messages', 'Lists e-mail.')]
await host.toolkits.add({ name: 'mail', tools: mail })
// This toolkit is always on.
await host.toolkits.add({ name: 'clock', tools: [tool('now', 'Tells the time.')], deferLoading: false })

const thread = host.user('ann').thread('monday')
const selection = await thread.select({ prompt: 'write a letter to Bob', limit: 2, model: 'openai:gpt-5' })

for (const { entry, by, score, reasons } of selection.tools) console.log(entry.modelName, by, score, reasons)
console.log(`${selection.tokens.after} of ${selection.tokens.before} tokens`)

// The model searches for more tools while it works. The next step has them, and later prompts too.
await selection.call({ name: 'search_tools', arguments: { query: 'report number 42', limit: 1 } })
const next = selection.next()
const outcome = await next.call({ name: 'mcp_reports_report_42', arguments: {} })
const later = await thread.select({ prompt: 'thank you' })
//#endregion
const names = ({ tools }: typeof selection) => tools.map(({ entry }) => entry.modelName)
assert.deepEqual(names(selection).slice(0, 3), ['mcp_clock_now', 'read_result', 'search_tools'])
assert.ok(names(selection).includes('mcp_mail_send_message'))
assert.ok(selection.tokens.after < selection.tokens.before / 8)
assert.ok(names(next).includes('mcp_reports_report_42'))
assert.equal(outcome.status, 'ok')
assert.ok(names(later).includes('mcp_reports_report_42'))
