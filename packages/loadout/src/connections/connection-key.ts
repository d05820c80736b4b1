/** Whose a connection is, and when it is another one. */
import type { RemoteServer, Server } from '../schema/toolkit/server.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

export const isRemote = (server: Server): server is RemoteServer => server.type === 'http' || server.type === 'sse'

/** The user's own, or everyone's (null) where the operator said so of a toolkit of the app. */
export const connectionOwner = ({ tier, toolkit }: StoredToolkit, userId: string) =>
  tier === 'app' && toolkit.shared && !isPersonal(toolkit.server) ? null : userId

/** Whether each user signs in for themselves: then nothing is shared, whatever the operator said. */
const isPersonal = (server: Server) =>
  isRemote(server) &&
  server.auth.type === 'oauth' &&
  (server.auth.grant ?? 'authorization_code') === 'authorization_code'

export const stateKey = (uscoId: string, userId: string | null) => JSON.stringify([uscoId, userId])

/** What `stateKey` was made of. */
export function parseStateKey(key: string): { uscoId: string; userId: string | null } {
  const [uscoId, userId] = JSON.parse(key) as [string, string | null]
  return { uscoId, userId }
}

/** Whether a key of that kind is of this toolkit, whoever's it is. */
export const isForToolkit = (key: string, uscoId: string) => (JSON.parse(key) as [string, unknown])[0] === uscoId

/** Changes with the record and with its secrets: both touch the row. */
export const fingerprintOf = ({ uscoId, toolkit, row }: StoredToolkit) =>
  `${uscoId} ${row.updatedAt.getTime()} ${toolkit.server.type}`
