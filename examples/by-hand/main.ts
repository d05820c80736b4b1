/** A server added by hand: discovered, filtered, renamed, and called by a model. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { startModelServer } from '@loadout/core/testing'

const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
const folder = await realpath(await mkdtemp(join(tmpdir(), 'loadout-by-hand-')))
const note = join(folder, 'note.txt')
await writeFile(note, 'Buy bread.')
const scripted = await startModelServer([
  { answer: { calls: [{ name: 'mcp_filesystem-mcp_fs_read_text_file', arguments: { path: note } }] } },
  { answer: 'It says to buy bread.' },
])
const model = createAnthropic({ apiKey: 'key', baseURL: scripted.baseUrl.aiSdkAnthropic })('claude-opus-5-5')

//#region example
import { createHost, rule } from '@loadout/core'
import { toAI } from '@loadout/core/ai'
import { nodeDrivers } from '@loadout/core/node'
import { describe, filter, prefix, providerOptions } from '@loadout/core/transformers'
import { generateText, isStepCount } from 'ai'

await using host = createHost({ drivers: nodeDrivers(), policy: { rules: [rule('*', 'allow')] } })
const config = { name: 'filesystem-mcp', command: process.execPath, args: [server, folder] }

// Lists the tools, and stores nothing.
const { tools: all } = await host.toolkits.discover(config)
const safe = all.map(({ name }) => name).filter((name) => !/write|edit|move|create/.test(name))

await host.toolkits.add(config, {
  transform: [
    filter({ include: safe }),
    describe('[Filesystem MCP]'),
    prefix('fs_'),
    providerOptions({ anthropic: { eagerInputStreaming: true } }),
    (tool) => ({ ...tool, deferred: false }), // always on; by default tools are deferred until a prompt needs them
  ],
})
const thread = host.user('ann').thread('notes')
const { tools } = await thread.loadout()
const serverOf = new Map(tools.map(({ modelName, toolkit }) => [modelName, toolkit]))

const prompt = `What is in ${note}?`
const selection = await thread.select({ prompt })
const { text } = await generateText({ model, prompt, stopWhen: isStepCount(5), ...toAI(selection) })
//#endregion
scripted.done()
await scripted.close()
await rm(folder, { recursive: true, force: true })
assert.equal(text, 'It says to buy bread.')
assert.equal(serverOf.get('mcp_filesystem-mcp_fs_read_text_file'), 'filesystem-mcp')
assert.deepEqual(
  [all.length > safe.length, [...serverOf.keys()].some((name) => /write|edit|move|create/.test(name))],
  [true, false],
)
const [first] = scripted.requests
assert.deepEqual(first?.toolNames.toSorted(), [...serverOf.keys(), 'read_result'].sort())
assert.match(String(first?.tools[0]?.description), /^\[Filesystem MCP\] /)
assert.equal(first?.tools[0]?.eager_input_streaming, true)
assert.match(JSON.stringify(scripted.requests[1]?.history), /Buy bread\./)
