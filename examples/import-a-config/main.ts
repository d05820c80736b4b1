/** Imports another app's config as toolkits, and exports toolkits as a config. */
import assert from 'node:assert/strict'
//#region example
import { createHost } from '@loadout/core'

const config = `{
  // as Claude Code, Cursor and others write it
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "\${ROOT:-.}"] },
    "github": { "type": "http", "url": "https://mcp.example/github", "headers": { "Authorization": "\${GITHUB_AUTH}" } },
  },
}`
await using host = createHost()
const ann = host.user('ann')

const preview = await ann.toolkits.import(config, { dryRun: true }) // github: needs-input, GITHUB_AUTH has no value
const report = await ann.toolkits.import(config, { values: { GITHUB_AUTH: 'Bearer s3cret' } })
const exported = await ann.toolkits.export() // secrets are placeholders
//#endregion
assert.deepEqual(
  preview.entries.map(({ name, status }) => [name, status]),
  [
    ['files', 'added'],
    ['github', 'needs-input'],
  ],
)
assert.deepEqual(
  report.entries.map(({ status }) => status),
  ['added', 'added'],
)
assert.equal(exported.mcpServers?.github?.url, 'https://mcp.example/github')
assert.doesNotMatch(JSON.stringify([preview, report, exported]), /s3cret/)
