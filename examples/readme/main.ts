import assert from 'node:assert/strict'
import { createHost, defineTool, rule } from '@loadout/core'

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  execute: ({ order }) => `refunded ${order}`,
})

// In memory. `storage: pglite({ dataDir })` or `postgres({ url })` stores everything.
await using host = createHost({
  toolkits: { tools: [refund], servers: { github: { url: 'https://mcp.example/github' } } }, // for every user
  policy: { rules: [rule('app.refund', 'ask')] },
})
const ann = host.user('ann')

// Ann adds her own server. Its secret is encrypted before the toolkit is stored.
const args = ['-y', '@modelcontextprotocol/server-filesystem', '.']
await ann.toolkits.add({ name: 'My files', command: 'npx', args, env: { TOKEN: 's3cret' } })

// A rule asks Ann first. Her answer can come from any process.
const call = ann.call('app.refund', { order: 7 })
await ann.approvals.allow((await call.approval).id, { remember: 'tool' })
assert.equal((await call).status, 'ok')

const ids = async (userId: string) => (await host.user(userId).toolkits.list()).map(({ id }) => id)
assert.deepEqual(await ids('ann'), ['my-files', 'github', 'app'])
assert.deepEqual(await ids('bob'), ['github', 'app'])
assert.doesNotMatch(JSON.stringify(await ann.toolkits.list()), /s3cret/)
