/**
 * Ends the work of removed users in every process: cancels their calls, down to the servers, and deletes the rows that
 * these calls still wrote. `users.remove` waits for this in its own process; other processes follow through the
 * storage.
 */

import type { RunningCalls } from '../calls/calls.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { Collection, Storage } from '../storage/storage.ts'
import { removalIdOf, removalsSince } from './removals.ts'
import type { UsersBeingRemoved } from './removing.ts'

export interface UserRemovalListener {
  /** Cancels all running work of a user in this process. Returns the number of calls. */
  end(userId: string): Promise<number>
  /** Starts watching for removals by other processes. */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface EndWorkDeps {
  storage: Storage
  calls: Pick<RunningCalls, 'endAll' | 'users'>
  removing: UsersBeingRemoved
  /** Drops counters and pending writes of this process. */
  forget(userId: string): void
  removeRows(userId: string, collections: readonly Collection[]): Promise<number>
}

/** Collections that calls write to. */
const OF_CALLS = ['calls', 'approvals', 'results', 'usage', 'places', 'toolUses'] as const
const OVERLAP_MS = 60_000

export function createRemovalListener({
  storage,
  calls,
  removing,
  forget,
  removeRows,
}: EndWorkDeps): UserRemovalListener {
  let watching: Promise<() => void> | undefined
  let checkedAt = Date.now()
  const ending = new Set<Promise<void>>()

  const end = (userId: string) =>
    removing.during(userId, async () => {
      const count = await calls.endAll(userId)
      forget(userId)
      return count
    })
  const endHere = async (removalIds: ReadonlySet<string>) => {
    for (const userId of calls.users()) {
      if (removing.has(userId) || !removalIds.has(await removalIdOf(userId))) continue
      await end(userId)
      await removeRows(userId, OF_CALLS)
    }
  }
  /** Handles removals that happened while the watch was interrupted. */
  const catchUp = async () => {
    const from = new Date(checkedAt - OVERLAP_MS)
    checkedAt = Date.now()
    const rows = await storage.transaction({ caller: 'audit-shipping', userId: APP_OWNER }, (tx) =>
      removalsSince(tx, from),
    )
    await endHere(new Set(rows.map((row) => row.removalId)))
  }
  const follow = (work: Promise<void>) => {
    const ended = work.catch(() => {}).finally(() => ending.delete(ended))
    ending.add(ended)
  }
  return {
    end,
    async start() {
      watching ??= storage.watch((change) => {
        if (change.kind === 'live') follow(catchUp())
        if (change.kind === 'row' && change.collection === 'removedUsers') follow(endHere(new Set([change.id])))
      })
      await watching
    },
    async stop() {
      await watching?.then((stopWatching) => stopWatching()).catch(() => {})
      await Promise.all(ending)
    },
  }
}
