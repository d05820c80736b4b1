/** What an app may see of connections, and how it ends them. No connection is handed out: a tool is called by `calls/` alone. */
import type { ServerInfo } from './connection.ts'
import type { Connector } from './connector.ts'
import type { PoolKey } from './pool/pool.ts'

/** A connection as it is told of. */
export interface ConnectionInfo {
  key: PoolKey
  /** The id of its toolkit. */
  toolkit: string
  openedAt: Date
  leases: number
  info: ServerInfo
  /** What its process said on stderr lately, and its group. */
  diagnostics(): { stderr?: string; pid?: number }
}

export interface Connections
  extends Pick<Connector, 'stateOf' | 'outputOf' | 'retire' | 'reset' | 'cancel' | 'counts'> {
  /** What is open. */
  status(): ConnectionInfo[]
  /** Ends all of them, and opens no more. */
  close(): Promise<void>
}

export function createConnections(connector: Connector): Connections {
  return {
    stateOf: (stored, userId) => connector.stateOf(stored, userId),
    outputOf: (stored, userId) => connector.outputOf(stored, userId),
    retire: (uscoId, keep) => connector.retire(uscoId, keep),
    reset: (uscoId, userId) => connector.reset(uscoId, userId),
    cancel: (stored, userId) => connector.cancel(stored, userId),
    counts: () => connector.counts(),
    close: () => connector.close(),
    status: () =>
      connector.status().map(({ key, toolkit, openedAt, leases, connection }) => ({
        key: { ...key },
        toolkit,
        openedAt,
        leases,
        info: connection.info,
        diagnostics: () => connection.diagnostics(),
      })),
  }
}
