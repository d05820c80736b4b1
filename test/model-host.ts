/** A host with two real servers whose tools wait, and a file that a model is asked about. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, rule, type ThreadAddress } from 'loadout'
import { nodeDrivers } from 'loadout/node'
import { EVERYTHING, FILESYSTEM } from './real-servers.ts'

export const READ = 'mcp_filesystem_read_text_file'
export const SUM = 'mcp_everything_get-sum'
/** What the model is asked, what the prompt finds by itself, and what it must search for. */
export const PROMPT = 'What is the sum of two numbers?'
export const QUERY = 'read the text of a file'

export async function startModelHost() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'loadout-model-')))
  await writeFile(join(folder, 'note.txt'), 'The answer is 42.')
  const run = (...args: string[]) => ({ command: process.execPath, args })
  const host = createHost({
    policy: [rule('filesystem.write_file', 'deny'), rule('*', 'allow')],
    drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }),
    mcpServers: { everything: run(EVERYTHING), filesystem: run(FILESYSTEM, folder) },
  })
  let threads = 0
  return {
    host,
    note: join(folder, 'note.txt'),
    /** A new thread, so that nothing is loaded yet. */
    thread: (address: Partial<ThreadAddress> = {}) =>
      host.thread({ userId: 'ann', threadId: `thread-${++threads}`, ...address }),
    async close() {
      await host.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
export type ModelHost = Awaited<ReturnType<typeof startModelHost>>
