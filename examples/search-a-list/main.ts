/** Search over a list of tools, without a host. */
import assert from 'node:assert/strict'
//#region example
import { createToolIndex, readTools } from '@loadout/core/search'

// Tools from a file, or from a server's answer to `tools/list`.
const tools = readTools([
  { server: 'mail', name: 'send', description: 'Sends a letter.', examples: ['tell Bob that I am late'] },
  { server: 'clock', name: 'now', description: 'Tells the time.' },
])
const index = createToolIndex(tools) // once, for many searches
const { hits } = await index.search('I am late', { limit: 3 })
//#endregion
assert.equal(hits[0]?.ref, 'mail.send')
assert.deepEqual(hits[0]?.reasons, ['"am", "late" in what it was used for'])
