/** A live sandboxed server for tests, and what its code says. */
import type { Connection, ConnectionHooks } from '../connections/connection.ts'
import type { Drivers } from '../connections/drivers.ts'
import { type NodeDriverOptions, nodeDrivers } from '../connections/node-drivers.ts'
import type { StdioServer } from '../schema/server.ts'
import { INSIDE_SERVER } from './inside-server.ts'

export const NO_HOOKS: ConnectionHooks = {
  onListChanged: () => {},
  onClosed: () => {},
  onQuestion: async () => ({ action: 'decline' }),
}
const PATIENCE = { timeoutMs: 60_000, totalMs: 60_000 }

/** What code inside came to: a value, or the code of what stopped it. */
export interface Said {
  value?: unknown
  error?: string
}

export interface Inside {
  connection: Connection
  run(code: string): Promise<Said>
}

export const insideRecord = (record: Partial<StdioServer> = {}): StdioServer => ({
  type: 'stdio',
  command: 'node',
  args: ['-e', INSIDE_SERVER],
  env: {},
  ...record,
})

export async function openInside(drivers: Drivers, record: Partial<StdioServer> = {}): Promise<Inside> {
  const connection = await drivers.open({ server: insideRecord(record), connectMs: 30_000 }, NO_HOOKS, 'user')
  return {
    connection,
    async run(code) {
      const { content } = await connection.callTool({ name: 'run', arguments: { code } }, PATIENCE)
      return JSON.parse((content[0] as { text: string }).text)
    },
  }
}

export const sandboxed = (options: NodeDriverOptions = {}): Drivers => nodeDrivers({ stdio: 'sandbox', ...options })
