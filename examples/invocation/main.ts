/** Toolkits that travel with one invocation: nothing is stored, nothing is written, nobody else sees them. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { nodeDrivers, setupToolkits, withExecutionContext } from '@loadout/core/node'
//#region example
import { createServices } from '@loadout/core/services'

const filesystem = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
await using host = createServices({ drivers: nodeDrivers() })

const toolkits = {
  files: { command: process.execPath, args: [filesystem, import.meta.dirname] },
  broken: { command: '/nowhere/to/be/found' },
}
const principal = { kind: 'session' as const, userId: 'ann' }

const told = await withExecutionContext({ principal, toolkits }, async () => {
  await using run = await setupToolkits(host, ['files', 'broken', 'tavily']) // anywhere below, at any depth
  const outcome = await run.call({ name: 'files.list_directory', arguments: { path: import.meta.dirname } })
  return { outcome, failed: run.failedToolkits, missing: run.missing, warnings: run.warnings }
})
//#endregion
assert.equal(told.outcome.status, 'ok')
assert.match(JSON.stringify(told.outcome), /main\.ts/)
assert.deepEqual(
  told.failed.map(({ id, code }) => [id, code]),
  [['broken', 'spawn-failed']],
)
assert.deepEqual(told.missing, ['tavily'])
assert.match(told.warnings.join(), /Requested: tavily\. Available: files, broken\./)
