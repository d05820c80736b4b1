/** The main parts in one app: a database in a folder, programs, rules, a thread, a model and an approval. */
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

//#region example
import { createHost, defineToolkit, rule } from '@loadout/core'
import { toAI } from '@loadout/core/ai'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { pglite } from '@loadout/core/storage/pglite'
import { isStepCount, streamText } from 'ai'

// With `auth: { type: 'oauth' }` each user signs in to the server.
const github = defineToolkit({ id: 'github', server: { type: 'http', url: server.url } })

await using host = createHost({
  storage: pglite({ dataDir }), // with a key file beside it that only its owner can read
  executor: quickjs({ timeoutMs: 30_000 }),
  // If no rule matches, annotations decide.
  policy: { rules: [rule('*', { readOnly: true }, 'allow'), rule('github.create_*', 'ask')] },
})
await host.toolkits.add(github)

const ann = host.user('ann')
const thread = ann.thread('t1')
await thread.activate('github')
await thread.deactivate('github.delete_repo') // off for this thread; no call turns it on

const selection = await thread.select({ prompt, limit: 12 }) // loadout → search → tools for this prompt
const answer = streamText({ model, prompt, stopWhen: isStepCount(5), ...toAI(selection) })
const text = await answer.text

const count = await thread.run(`return (await github.list_issues({ state: 'open' })).length`)
const run = await thread.run(`return github.create_issue({ title: 'Another' })`)
for (const { id } of run.pending) await ann.approvals.allow(id, { remember: 'thread' })
const finished = await ann.runs.wait(run.id)
//#endregion
models.done()
await models.close()
server.close()
assert.equal(text, 'There is one.')
assert.deepEqual([count.status, count.output], ['completed', 1])
assert.deepEqual([run.status, run.pending.map(({ ref }) => ref)], ['paused', ['github.create_issue']])
assert.deepEqual([finished.status, finished.pending], ['completed', []])
const names = selection.tools.map(({ entry }) => entry.ref)
assert.ok(names.includes('github.list_issues') && !names.includes('github.delete_repo'))
await host.close()
await rm(dataDir, { recursive: true })
