import { defineCommand } from 'citty'
import { assertOk, connect } from '../client.ts'
import { COMMON, configFrom } from '../options.ts'
import { print } from '../print.ts'

const FORMATS = ['mcpServers', 'vscode'] as const

export const exportConfig = defineCommand({
  meta: {
    name: 'export',
    description: 'Print your toolkits as a config that other apps read, secrets as placeholders',
  },
  args: {
    format: { type: 'enum', options: [...FORMATS], description: 'The shape of the config', default: 'mcpServers' },
    ...COMMON,
  },
  run: ({ args }) =>
    print(args.json, async () => {
      await using connection = await connect(configFrom(args))
      const format = FORMATS.find((value) => value === args.format) ?? 'mcpServers'
      const answer = await connection.client.api.mcp.export.$get({ query: { format } })
      await assertOk(answer)
      const data = await answer.json()
      return { data, text: JSON.stringify(data, null, 2) }
    }),
})
