/**
 * Removes a user: ends their calls, deletes their rows, closes their connections, and erases them from the log, whose
 * chain stays valid. The removal note is stored first, so that late writes of any process are stored without the user.
 */

import type { Audit } from '../audit/audit.ts'
import type { Connector } from '../connections/connector.ts'
import { HostError } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import { COLLECTION_NAMES, type Collection, specOf } from '../storage/collections.ts'
import type { Storage } from '../storage/storage.ts'
import { noteRemoval, undoRemoval } from './removals.ts'

export interface Users {
  /** Deletes all data of a user and erases the user from the log. `not-found` if there is none. */
  remove(userId: string): Promise<{ rows: number; lines: number }>
}

export interface UserDeps {
  storage: Storage
  /** Cancels the calls of the user in this process, down to the servers. Returns their number. */
  endCalls(userId: string): Promise<number>
  /** Deletes their rows from every collection except the log. Returns the number. */
  removeRows(userId: string): Promise<number>
  connector: Pick<Connector, 'status' | 'reset'>
  audit: Pick<Audit, 'erase' | 'flush'>
}

export function createUsers({ storage, endCalls, removeRows, connector, audit }: UserDeps): Users {
  const closeConnections = (userId: string) => {
    const open = connector.status().filter(({ key }) => key.userId === userId)
    return Promise.all(open.map(({ key }) => connector.reset(key.toolkit, userId)))
  }
  return {
    async remove(userId) {
      // Flush first, so that stored entries are distinct from pending ones.
      await audit.flush()
      await noteRemoval(storage, userId)
      const calls = await endCalls(userId)
      const rows = await removeRows(userId)
      await closeConnections(userId)
      const lines = await audit.erase(userId)
      if (rows + lines + calls > 0) return { rows, lines }
      await undoRemoval(storage, userId)
      throw new HostError('not-found', { detail: 'There is nothing of such a user.' })
    },
  }
}

/** Rows per transaction. */
const PAGE = 500

/** API keys are deleted first, so that the user loses access before the data. */
export const REMOVED_COLLECTIONS: readonly Collection[] = COLLECTION_NAMES.filter((name) => {
  const { owner, userMay, parent } = specOf(name)
  return owner === 'user' && userMay === 'write' && parent === undefined
}).sort((a, b) => Number(b === 'apiKeys') - Number(a === 'apiKeys'))

/** Deletes the rows of a user and their logins. Returns the number, without child rows. */
export async function removeUserRows(storage: Storage, userId: string): Promise<number> {
  const logins = await removeLogins(storage, userId)
  const rows = await removeUserRowsIn(storage, userId, REMOVED_COLLECTIONS)
  return logins + rows + (await forgetInAppPins(storage, userId))
}

export async function removeUserRowsIn(
  storage: Storage,
  userId: string,
  collections: readonly Collection[],
): Promise<number> {
  let removed = 0
  for (const collection of collections) removed += await removeFrom(storage, collection, userId)
  return removed
}

async function removeFrom(storage: Storage, collection: Collection, userId: string): Promise<number> {
  const { id } = specOf(collection)
  for (let removed = 0; ; ) {
    const count = await storage.transaction({ userId }, async (tx) => {
      const rows = await tx.list(collection, { where: { userId } as never, limit: PAGE })
      for (const row of rows) await tx.delete(collection, String((row as Record<string, unknown>)[id]))
      return rows.length
    })
    removed += count
    if (count < PAGE) return removed
  }
}

/** Deletes the account with its passwords and sessions. */
function removeLogins(storage: Storage, userId: string): Promise<number> {
  return storage.transaction({ caller: 'user-admin' }, async (tx) => {
    const links = await tx.list('signInLinks', { where: { userId }, limit: 10_000 })
    for (const { linkId } of links) await tx.delete('signInLinks', linkId)
    return links.length + Number(await tx.delete('users', userId))
  })
}

/** App-wide pins that the user accepted stay accepted, without the user ID. */
function forgetInAppPins(storage: Storage, userId: string): Promise<number> {
  return storage.transaction({ caller: 'app-config', userId: APP_OWNER }, async (tx) => {
    const pins = await tx.list('pins', { where: { userId: APP_OWNER, acceptedBy: userId }, limit: 10_000 })
    for (const pin of pins) await tx.update('pins', pin.pinId, { set: { acceptedBy: 'removed user' } })
    return pins.length
  })
}
