/** Folders with sockets of proxies whose host is gone, as a `kill -9` leaves them: nobody listens there any more. */
import { readdir, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const EGRESS_PREFIX = 'loadout-egress-'
export const SOCKET = 'proxy.sock'
/** One that has no socket yet is being made. */
const YOUNG_MS = 60_000

export async function sweepSockets(folder = tmpdir()): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    if (name.startsWith(EGRESS_PREFIX) && (await isLeft(join(folder, name))))
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => {})
}

async function isLeft(dir: string): Promise<boolean> {
  const code = await new Promise<string | undefined>((resolve) => {
    const socket = connect(join(dir, SOCKET))
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
  if (code === 'ECONNREFUSED') return true
  const found = code === 'ENOENT' ? await stat(dir).catch(() => undefined) : undefined
  return found !== undefined && Date.now() - found.mtimeMs > YOUNG_MS
}
