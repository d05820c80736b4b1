/** A user's own server, called through the pipeline. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
//#region example
import { createHost } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'

const filesystem = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
await using host = createHost({ drivers: nodeDrivers({ stdio: 'on' }) })
const ann = host.user('ann')

await ann.toolkits.add({ name: 'files', command: process.execPath, args: [filesystem, import.meta.dirname] })

const outcome = await ann.call('files.list_directory', { path: import.meta.dirname })
const rejected = await ann.call('files.list_directory', { dir: '.' }) // a value, not an exception
//#endregion
assert.equal(outcome.status, 'ok')
assert.match(JSON.stringify(outcome), /main\.ts/)
assert.equal('error' in rejected && rejected.error.code, 'invalid-input')
