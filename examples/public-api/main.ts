/** The whole API as an app writes it: a database in a folder, programs, rules, a thread, a model, and an answer to a question. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { startModelServer } from '@loadout/core/testing'
import { startGithub } from './server.ts'

const server = await startGithub()
const models = await startModelServer([
  { answer: { calls: [{ name: 'mcp_github_list_issues', arguments: { state: 'open' } }] } },
  { answer: 'There is one.' },
])
const model = createAnthropic({ apiKey: 'key', baseURL: models.baseUrl.aiSdkAnthropic })('claude-opus-5-5')
const prompt = 'Which issues are open?'
const dataDir = await mkdtemp(join(tmpdir(), 'public-api-'))

import { defineToolkit, rule } from '@loadout/core'
import { toAI } from '@loadout/core/ai'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { createServices } from '@loadout/core/services'
import { pglite } from '@loadout/core/storage/pglite'
//#region example
import { isStepCount, streamText } from 'ai'

// With `auth: { type: 'oauth' }` each user signs in to it for themselves.
const github = defineToolkit({ id: 'github', server: { type: 'http', url: server.url } })

await using host = createServices({
  storage: pglite({ dataDir }), // and a key file beside it, which only its owner can read
  executor: quickjs({ timeoutMs: 30_000 }),
  policy: [rule('*', { readOnly: true }, 'allow'), rule('github.create_*', 'ask')], // nothing matches → annotations
})
await host.toolkits.register(github, { tier: 'app' })

const thread = host.thread({ userId: 'u1', threadId: 't1' })
await thread.activate('github')
await thread.deactivate('github.delete_repo') // tombstone at the thread tier

const selection = await thread.select({ prompt, limit: 12 }) // loadout → search → tools for this prompt
const answer = streamText({ model, prompt, stopWhen: isStepCount(5), ...toAI(selection) })
const said = await answer.text

const counted = await thread.run(`return (await github.list_issues({ state: 'open' })).length`)
const run = await thread.run(`return github.create_issue({ title: 'Another' })`)
for (const { id } of run.pending)
  await host.approvals.answer({ userId: 'u1', id }, { type: 'allow', remember: 'thread' })
const done = await host.runs.settled('u1', run.id)
//#endregion
models.done()
await models.close()
server.close()
assert.equal(said, 'There is one.')
assert.deepEqual([counted.status, counted.output], ['completed', 1])
assert.deepEqual([run.status, run.pending.map(({ ref }) => ref)], ['paused', ['github.create_issue']])
assert.deepEqual([done.status, done.pending], ['completed', []])
const names = selection.tools.map(({ entry }) => entry.ref)
assert.ok(names.includes('github.list_issues') && !names.includes('github.delete_repo'))
await host.close()
await rm(dataDir, { recursive: true })
