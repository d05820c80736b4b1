/**
 * A user who goes: their calls end, and then they are out of every table, off every line, and out of the log, which stays
 * whole without them. That they went is noted first, so that whatever still comes from before, in any process, is written
 * without them; nothing is waited for by the clock.
 */

import type { Audit } from '../audit/audit.ts'
import type { Connector } from '../connections/connector.ts'
import { HostError } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import { COLLECTION_NAMES, type Collection, specOf } from '../storage/collections.ts'
import type { Storage } from '../storage/storage.ts'
import { noteRemoval, undoRemoval } from './removals.ts'

export interface Users {
  /** Removes all that a user has, and the user from the log. `not-found` where there is nothing of them. */
  remove(userId: string): Promise<{ rows: number; lines: number }>
}

export interface UserDeps {
  storage: Storage
  /** Ends what they have under way in this process, down to the servers. Says how many calls. */
  endCalls(userId: string): Promise<number>
  /** Removes their rows from every collection but the log. Says how many. */
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
      // What is stored already is told apart from what still comes.
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

/**
 * Removes a user's rows from every collection that has any: those that users write, and with them their children. The log
 * is not among them: it keeps its lines without the person, which is the audit's own work. Whoever can sign in loses that first.
 */
const PAGE = 500

/** In this order a removed user's keys are gone first. */
export const REMOVED_COLLECTIONS: readonly Collection[] = COLLECTION_NAMES.filter((name) => {
  const { owner, userMay, parent } = specOf(name)
  return owner === 'user' && userMay === 'write' && parent === undefined
}).sort((a, b) => Number(b === 'apiKeys') - Number(a === 'apiKeys'))

/** How many rows went, children not counted. */
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

/** Their passwords and sessions go with them. */
function removeLogins(storage: Storage, userId: string): Promise<number> {
  return storage.transaction({ caller: 'user-admin' }, async (tx) => {
    const links = await tx.list('signInLinks', { where: { userId }, limit: 10_000 })
    for (const { linkId } of links) await tx.delete('signInLinks', linkId)
    return links.length + Number(await tx.delete('users', userId))
  })
}

/** What an operator accepted for all stays accepted, by nobody in particular. */
function forgetInAppPins(storage: Storage, userId: string): Promise<number> {
  return storage.transaction({ caller: 'app-config', userId: APP_OWNER }, async (tx) => {
    const pins = await tx.list('pins', { where: { userId: APP_OWNER, acceptedBy: userId }, limit: 10_000 })
    for (const pin of pins) await tx.update('pins', pin.pinId, { set: { acceptedBy: 'removed user' } })
    return pins.length
  })
}
