import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { HostError } from '@loadout/core'
import { toolTypes } from '@loadout/core/node'
import { defineCommand } from 'citty'
import type { InferResponseType } from 'hono/client'
import { assertOk, type Client, connect } from '../client.ts'
import { followStarts } from '../follow-starts.ts'
import { COMMON, configFrom } from '../options.ts'
import { print } from '../print.ts'

type Listed = InferResponseType<Client['api']['mcp']['$get'], 200>['toolkits'][number]

const STARTS_AT_ONCE = 4

export const types = defineCommand({
  meta: { name: 'types', description: 'Write TypeScript types of your tools' },
  args: {
    out: { type: 'string', description: 'Declaration file; standard output without it', valueHint: 'file' },
    app: { type: 'boolean', description: 'Only global toolkits', default: false },
    ...COMMON,
  },
  run: ({ args }) =>
    print(args.json, async () => {
      await using connection = await connect(configFrom(args))
      const { client } = connection
      const toolkits = await followStarts(
        client,
        (line) => void (args.json || console.error(line)),
        () => discovered(client, ({ tier }) => !args.app || tier === 'app'),
      )
      const typed = toolkits.map(({ tier, tools }) => ({
        tier,
        tools: tools.map(({ inputSchema = { type: 'object' }, ...tool }) => ({ ...tool, inputSchema })),
      }))
      const tools = typed.reduce((sum, kit) => sum + kit.tools.length, 0)
      if (tools === 0)
        throw new HostError('not-found', {
          detail: 'There are no tools to declare.',
          action: 'Add a server first: loadout import <file>.',
        })
      const text = toolTypes(typed)
      const unknown = toolkits.filter((kit) => kit.tools.length === 0).map(({ id }) => id)
      if (args.out === undefined) return { data: { types: text, tools, unknown }, text: text.trimEnd() }
      await mkdir(dirname(args.out), { recursive: true })
      await writeFile(args.out, text)
      const missing = unknown.length === 0 ? '' : `\nNo tools are known of: ${unknown.join(', ')}.`
      return { data: { file: args.out, tools, unknown }, text: `Wrote ${args.out}: ${tools} tools.${missing}` }
    }),
})

/** Lists toolkits with schemas, after the first discovery of those that were never seen. */
async function discovered(client: Client, isWanted: (kit: Listed) => boolean): Promise<Listed[]> {
  const read = async () => {
    const answer = await client.api.mcp.$get({ query: { include: 'schemas' } })
    await assertOk(answer)
    const { toolkits } = (await answer.json()) as InferResponseType<Client['api']['mcp']['$get'], 200>
    return toolkits.filter((kit) => kit.enabled && isWanted(kit))
  }
  const unseen = (await read()).filter(({ discoveredAt }) => discoveredAt === undefined)
  const worker = async () => {
    for (let kit = unseen.shift(); kit; kit = unseen.shift())
      await client.api.mcp[':id'].introspect.$post({ param: { id: kit.id }, query: { reconnect: 'false' } })
  }
  await Promise.all(Array.from({ length: STARTS_AT_ONCE }, worker))
  return read()
}
