import assert from 'node:assert/strict'
import { defineToolkit } from '@loadout/core'
import { getExecutionContext, withExecutionContext } from '@loadout/core/node'
import { createServices } from '@loadout/core/services'

const github = defineToolkit({
  id: 'github',
  name: 'GitHub',
  server: { type: 'http', url: 'https://mcp.example/github' },
})

await using host = createServices() // in memory; pglite({ dataDir }) or postgres({ url }) keep it
await host.toolkits.register(github, { tier: 'app' }) // for every user

// Ann brings a server of her own. Its secret leaves the record before anything is stored.
const files = {
  name: 'My files',
  command: 'npx',
  args: ['-y', '@modelcontextprotocol/server-filesystem', '.'],
  env: { TOKEN: 's3cret' },
}
await host.toolkits.register(files, { tier: 'user', userId: 'ann' })

const ids = async (userId: string) => (await host.toolkits.list(userId)).map(({ toolkit }) => toolkit.id)
assert.deepEqual(await ids('ann'), ['my-files', 'github'])
assert.deepEqual(await ids('bob'), ['github'])
assert.doesNotMatch(JSON.stringify(await host.toolkits.list('ann')), /s3cret/)

// What one invocation carries travels with it, and never meets another's.
await withExecutionContext({ principal: { kind: 'session', userId: 'ann' }, toolkits: { files } }, async () => {
  assert.equal(getExecutionContext()?.principal.userId, 'ann')
})
