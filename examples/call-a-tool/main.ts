/** A user's own server, called through the one pipeline. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { nodeDrivers } from '@loadout/core/node'
//#region example
import { createServices } from '@loadout/core/services'

const filesystem = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
await using host = createServices({ drivers: nodeDrivers({ stdio: 'on' }) })

const files = { name: 'files', command: process.execPath, args: [filesystem, import.meta.dirname] }
await host.toolkits.register(files, { tier: 'user', userId: 'ann' })

const call = { userId: 'ann', toolkit: 'files', tool: 'list_directory', caller: { type: 'direct' as const } }
const outcome = await host.calls.start({ ...call, arguments: { path: import.meta.dirname } }).outcome
const refused = await host.calls.start({ ...call, arguments: { dir: '.' } }).outcome // a value, not an exception
//#endregion
assert.equal(outcome.status, 'ok')
assert.match(JSON.stringify(outcome), /main\.ts/)
assert.equal('error' in refused && refused.error.code, 'invalid-input')
