/** The config of another app becomes toolkits, and toolkits become a config. */
import assert from 'node:assert/strict'
//#region example
import { exportToolkits } from '@loadout/core'
import { createServices } from '@loadout/core/services'

const config = `{
  // as Claude Code, Cursor and others write it
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "\${ROOT:-.}"] },
    "github": { "type": "http", "url": "https://mcp.example/github", "headers": { "Authorization": "\${GITHUB_AUTH}" } },
  },
}`
await using host = createServices()
const ann = { tier: 'user', userId: 'ann' } as const

const preview = await host.imports.preview(config, ann) // github: needs-input, because nobody gave GITHUB_AUTH
const report = await host.imports.apply(config, ann, { values: { GITHUB_AUTH: 'Bearer s3cret' } })
const own = (await host.toolkits.list('ann')).filter(({ tier }) => tier === 'user')
const back = exportToolkits(own) // secrets are placeholders
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
assert.equal(back.mcpServers?.github?.url, 'https://mcp.example/github')
assert.doesNotMatch(JSON.stringify([preview, report, back]), /s3cret/)
