/** How the tools of a server are discovered and cached. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
//#region example
import { createHost } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'

const filesystem = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
await using host = createHost({ drivers: nodeDrivers({ stdio: 'on' }) })
const ann = host.user('ann')

// The toolkit is stored before Loadout connects to its server.
await ann.toolkits.add({ name: 'files', command: process.execPath, args: [filesystem, import.meta.dirname] })

// Discovers, checks, pins and caches the tools. Without this line, the first request that needs them does it.
const { tools } = await ann.toolkits.refresh('files')

// From here on tools are served from the cache, also when the server is down.
const [toolkit] = await ann.toolkits.list()
//#endregion
assert.ok(tools.some(({ name }) => name === 'list_directory'))
assert.equal(toolkit?.tools.length, tools.length)
assert.equal(toolkit?.state.status, 'connected')
