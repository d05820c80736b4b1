/** A session with its own toolkits: nothing is stored, and no other session sees them. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
//#region example
import { createExecutionContext, createHost } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'

const filesystem = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
await using host = createHost({ drivers: nodeDrivers() })

const context = createExecutionContext({
  principal: { kind: 'session', userId: 'ann' },
  toolkits: {
    files: { command: process.execPath, args: [filesystem, import.meta.dirname] },
    broken: { command: '/nowhere/to/be/found' },
  },
})

await using session = await host.session(context, { toolkits: ['files', 'broken', 'tavily'] })
const outcome = await session.call({ name: 'files.list_directory', arguments: { path: import.meta.dirname } })
const { failedToolkits, missing, warnings } = session
//#endregion
assert.equal(outcome.status, 'ok')
assert.match(JSON.stringify(outcome), /main\.ts/)
assert.deepEqual(
  failedToolkits.map(({ id, code }) => [id, code]),
  [['broken', 'spawn-failed']],
)
assert.deepEqual(missing, ['tavily'])
assert.match(warnings.join(), /Requested: tavily\. Available: files, broken\./)
