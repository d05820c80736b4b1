import { defineCommand } from 'citty'
import { connect, listToolkits } from '../client.ts'
import { COMMON, configFrom } from '../options.ts'
import { print, table } from '../print.ts'
import { startReports } from '../start-reports.ts'

export const toolkits = defineCommand({
  meta: { name: 'toolkits', description: 'List the toolkits' },
  args: COMMON,
  run: ({ args }) =>
    print(args.json, async () => {
      await using connection = await connect(configFrom(args))
      const { toolkits: items } = await listToolkits(connection.client)
      const rows = items.map((kit) => [
        kit.id,
        kit.name,
        kit.tier,
        String(kit.server.type),
        kit.state.status,
        `${kit.toolCount} tools`,
      ])
      const text =
        rows.length > 0
          ? [table(rows), ...startReports(items.filter(({ state }) => state.status !== 'connected'))].join('\n')
          : 'There are no toolkits yet. Add one in the web UI: loadout start'
      return { data: { toolkits: items }, text }
    }),
})
