/**
 * Removes a user's rows from every collection that has any: those that users write, and with them their children. The log
 * is not among them: it keeps its lines without the person, which is the audit's own work. Whoever can sign in loses that first.
 */
import { APP_OWNER } from '../schema/ids.ts'
import { COLLECTION_NAMES, type Collection, specOf } from './collections.ts'
import type { Storage } from './storage.ts'

const PAGE = 500

/** In this order a removed user's keys are gone first. */
export const REMOVED_COLLECTIONS: readonly Collection[] = COLLECTION_NAMES.filter((name) => {
  const { owner, userMay, parent } = specOf(name)
  return owner === 'user' && userMay === 'write' && parent === undefined
}).sort((a, b) => Number(b === 'apiKeys') - Number(a === 'apiKeys'))

/** How many rows went, children not counted. */
export async function removeUserRows(storage: Storage, userId: string): Promise<number> {
  const waysIn = await removeWaysIn(storage, userId)
  const rows = await removeUserRowsIn(storage, userId, REMOVED_COLLECTIONS)
  return waysIn + rows + (await forgetInAppPins(storage, userId))
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
function removeWaysIn(storage: Storage, userId: string): Promise<number> {
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
