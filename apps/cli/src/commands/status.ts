import { defineCommand } from 'citty'
import { connect, listToolkits } from '../client.ts'
import { COMMON, configFrom } from '../options.ts'
import { print } from '../print.ts'

export const status = defineCommand({
  meta: { name: 'status', description: 'Tell whether a server is running, and what it has' },
  args: COMMON,
  run: ({ args }) =>
    print(args.json, async () => {
      const config = configFrom(args)
      await using connection = await connect(config)
      const { toolkits } = await listToolkits(connection.client)
      const { server } = connection
      const data = {
        dataDir: config.dataDir,
        running: server !== undefined,
        url: server?.url ?? null,
        toolkits: toolkits.length,
      }
      const state = server ? `A server is running at ${server.url} (process ${server.pid}).` : 'No server is running.'
      return { data, text: `${state}\n${toolkits.length} toolkits in ${config.dataDir}` }
    }),
})
