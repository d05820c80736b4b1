import { writeFile } from 'node:fs/promises'
import { defineCommand } from 'citty'
import { assertOk, connect } from '../client.ts'
import { COMMON, configFrom } from '../options.ts'
import { print } from '../print.ts'

export const backup = defineCommand({
  meta: { name: 'backup', description: 'Copy the embedded database into a file, also while a server is running' },
  args: {
    file: { type: 'positional', description: 'The file to write, for example loadout.tar.gz', required: true },
    ...COMMON,
  },
  run: ({ args }) =>
    print(args.json, async () => {
      await using connection = await connect(configFrom(args))
      const answer = await connection.client.api.app.backup.$get()
      await assertOk(answer)
      const bytes = new Uint8Array(await answer.arrayBuffer())
      // The backup has everything except the key file: mode 0600, and an existing file is never overwritten.
      await writeFile(args.file, bytes, { mode: 0o600, flag: 'wx' })
      const text = `Wrote ${args.file} (${bytes.length} bytes). Keep keys.json of the data folder with it: without it the credentials are lost.`
      return { data: { file: args.file, bytes: bytes.length }, text }
    }),
})
