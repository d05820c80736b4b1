/** A host with two real servers whose tools wait, and a file for the model. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type ThreadAddress } from '@loadout/core/services'
import { type ModelScript, type ModelServer, startModelServer } from '@loadout/core/testing'
import { afterAll, afterEach, beforeAll } from 'vitest'
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
  const host = createServices({
    policy: [rule('filesystem.write_file', 'deny'), rule('*', 'allow')],
    drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }),
    mcpServers: { everything: run(EVERYTHING), filesystem: run(FILESYSTEM, folder) },
  })
  // A busy machine starts servers slowly, and what nobody knows of yet is not found.
  for (const stored of await host.toolkits.list('ann')) await host.catalog.introspect(stored, 'ann')
  let threads = 0
  return {
    host,
    note: join(folder, 'note.txt'),
    /** A new thread of somebody new, so that nothing is loaded yet, and nothing learned from what others asked for. */
    thread: (address: Partial<ThreadAddress> = {}) =>
      host.thread({ userId: `user-${++threads}`, threadId: `thread-${threads}`, ...address }),
    async close() {
      await host.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
export type ModelHost = Awaited<ReturnType<typeof startModelHost>>

/** One for the tests of a file, and a scripted model for each of them. */
export function useModelHost() {
  let fixture: ModelHost
  let server: ModelServer | undefined
  beforeAll(async () => {
    fixture = await startModelHost()
  })
  afterEach(async () => {
    await server?.close()
  })
  afterAll(() => fixture.close())
  return {
    fixture: () => fixture,
    async serve(script: ModelScript): Promise<ModelServer> {
      server = await startModelServer(script)
      return server
    },
  }
}
