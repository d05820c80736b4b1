/** Where the tools of a server come from, and what is kept of them. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { nodeDrivers } from '@loadout/core/node'
//#region example
import { createServices } from '@loadout/core/services'

const filesystem = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
await using host = createServices({ drivers: nodeDrivers({ stdio: 'on' }) })

// A record is stored before anybody looks at its server.
const files = { name: 'files', command: process.execPath, args: [filesystem, import.meta.dirname] }
const { stored } = await host.toolkits.register(files, { tier: 'user', userId: 'ann' })

// A look: the server is asked, its tools are checked, pinned and kept. Without it the first who needs them looks.
const manifests = await host.catalog.introspect(stored, 'ann')

// From here on all are served from what is kept, with the server gone too.
const [toolkit] = await host.views.list('ann')
//#endregion
assert.ok(manifests.some(({ name }) => name === 'list_directory'))
assert.equal(toolkit?.tools.length, manifests.length)
assert.equal((await host.toolkits.find('ann', 'files')).row.introspectionStatus, 'success')
