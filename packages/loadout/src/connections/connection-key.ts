/** Connection owner and the key under which a connection is pooled. */
import type { RemoteServer, Server } from '../schema/toolkit/server.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

export const isRemote = (server: Server): server is RemoteServer => server.type === 'http' || server.type === 'sse'

/** Returns null for an app toolkit that the operator marked as shared: all users use one connection. */
export const connectionOwner = ({ tier, toolkit }: StoredToolkit, userId: string) =>
  tier === 'app' && toolkit.shared && !isPersonal(toolkit.server) ? null : userId

/** Whether each user signs in separately. Such a server is never shared, whatever `shared` says. */
const isPersonal = (server: Server) =>
  isRemote(server) &&
  server.auth.type === 'oauth' &&
  (server.auth.grant ?? 'authorization_code') === 'authorization_code'

export const stateKey = (uscoId: string, userId: string | null) => JSON.stringify([uscoId, userId])

/** Inverse of `stateKey`. */
export function parseStateKey(key: string): { uscoId: string; userId: string | null } {
  const [uscoId, userId] = JSON.parse(key) as [string, string | null]
  return { uscoId, userId }
}

/** Whether a `stateKey` belongs to this toolkit, for any user. */
export const isForToolkit = (key: string, uscoId: string) => (JSON.parse(key) as [string, unknown])[0] === uscoId

/** Changes with the record and its secrets, because both update the row. */
export const serverFingerprint = ({ uscoId, toolkit, row }: StoredToolkit) =>
  `${uscoId} ${row.updatedAt.getTime()} ${toolkit.server.type}`
