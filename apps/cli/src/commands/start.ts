import { run } from '@loadout/server/run'
import { defineCommand } from 'citty'
import { COMMON } from '../options.ts'

export const start = defineCommand({
  meta: { name: 'start', description: 'Start the server and the web UI' },
  args: {
    'data-dir': COMMON['data-dir'],
    port: { type: 'string', description: 'The port to listen on (PORT)', valueHint: 'number' },
  },
  run: ({ args }) => run({ LOADOUT_DATA_DIR: args['data-dir'], PORT: args.port }),
})
