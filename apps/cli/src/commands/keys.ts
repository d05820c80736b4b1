import { join } from 'node:path'
import { HostError } from '@loadout/core'
import { addKey } from '@loadout/core/node'
import { defineCommand } from 'citty'
import { assertOk, connect, findServer } from '../client.ts'
import { COMMON, configFrom } from '../options.ts'
import { print } from '../print.ts'

const add = defineCommand({
  meta: {
    name: 'add',
    description: 'Put a new key first in the key file of a local host; not while a server is running',
  },
  args: COMMON,
  run: ({ args }) =>
    print(args.json, async () => {
      const { dataDir, masterKey } = configFrom(args)
      if (masterKey !== undefined)
        throw new HostError('conflict', {
          detail: 'The keys are in LOADOUT_MASTER_KEY, not in a file.',
          action: 'Put the new key first there, with a comma after it, and start again.',
        })
      const server = await findServer(dataDir)
      if (server)
        throw new HostError('conflict', {
          detail: `A server (pid ${server.pid}) has the key file open.`,
          action: 'Stop it first: it would go on to seal with the old key.',
        })
      const ring = await addKey(join(dataDir, 'keys.json'))
      const keyId = await ring.currentKeyId()
      return { data: { keyId }, text: `The key ${keyId} is the current one. Next: loadout keys rotate` }
    }),
})

const rotate = defineCommand({
  meta: { name: 'rotate', description: 'Put all that is sealed under the current key, also while a server is running' },
  args: COMMON,
  run: ({ args }) =>
    print(args.json, async () => {
      await using connection = await connect(configFrom(args))
      const answer = await connection.client.api.app.keys.rotate.$post()
      await assertOk(answer)
      const data = (await answer.json()) as { rewrapped: number; lost: number }
      const rest =
        data.lost === 0
          ? 'Older keys can be taken out.'
          : `${data.lost} cannot be opened by any key there is, and must be entered again.`
      return { data, text: `${data.rewrapped} put under the current key. ${rest}` }
    }),
})

export const keys = defineCommand({
  meta: { name: 'keys', description: 'The keys that seal credentials' },
  subCommands: { add, rotate },
})
