/**
 * Inspects and closes connections for the app. It never exposes a connection itself: tools are only called through
 * `calls/`.
 */
import type { ServerInfo } from './connection.ts'
import type { Connector } from './connector.ts'
import type { PoolKey } from './pool/pool.ts'

/** Status of one open connection. */
export interface ConnectionInfo {
  key: PoolKey
  /** Toolkit ID. */
  toolkit: string
  openedAt: Date
  leases: number
  info: ServerInfo
  /** Recent stderr output of the process, and its process group. */
  diagnostics(): { stderr?: string; pid?: number }
}

export interface Connections
  extends Pick<Connector, 'stateOf' | 'outputOf' | 'retire' | 'reset' | 'cancel' | 'counts'> {
  /** Lists open connections. */
  status(): ConnectionInfo[]
  /** Closes all connections and opens no more. */
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
