import { readFile } from 'node:fs/promises'
import { HostError } from '@loadout/core'
import { restorePglite } from '@loadout/core/storage/pglite'
import { defineCommand } from 'citty'
import { findServer } from '../client.ts'
import { COMMON, configFrom } from '../options.ts'
import { print } from '../print.ts'

export const restore = defineCommand({
  meta: { name: 'restore', description: 'Put a backup into a data folder that has no database yet' },
  args: { file: { type: 'positional', description: 'A file that `loadout backup` wrote', required: true }, ...COMMON },
  run: ({ args }) =>
    print(args.json, async () => {
      const { dataDir } = configFrom(args)
      const server = await findServer(dataDir)
      if (server)
        throw new HostError('storage-locked', {
          detail: `A server is running on ${dataDir} (process ${server.pid}).`,
          action: 'Stop it first, or restore into another --data-dir.',
        })
      await restorePglite(dataDir, await readFile(args.file))
      return {
        data: { dataDir },
        text: `Restored ${args.file} into ${dataDir}. Put the keys.json that belongs to it there before you start.`,
      }
    }),
})
