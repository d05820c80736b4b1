/**
 * A user who goes: their calls end, and then they are out of every table, off every line, and out of the log, which stays
 * whole without them. That they went is noted first, so that whatever still comes from before, in any process, is written
 * without them; nothing is waited for by the clock.
 */
import type { Connector } from '../connections/connector.ts'
import { HostError } from '../errors.ts'
import type { Storage } from '../storage/storage.ts'
import type { Audit } from './audit.ts'
import { noteRemoval, undoRemoval } from './removals.ts'

export interface Users {
  /** Removes all that a user has, and the user from the log. `not-found` where there is nothing of them. */
  remove(userId: string): Promise<{ rows: number; lines: number }>
}

export interface UserParts {
  storage: Storage
  /** Ends what they have under way in this process, down to the servers. Says how many calls. */
  endCalls(userId: string): Promise<number>
  /** Removes their rows from every collection but the log. Says how many. */
  removeRows(userId: string): Promise<number>
  connector: Pick<Connector, 'status' | 'reset'>
  audit: Pick<Audit, 'erase' | 'flush'>
}

export function createUsers({ storage, endCalls, removeRows, connector, audit }: UserParts): Users {
  const closeLines = (userId: string) => {
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
      await closeLines(userId)
      const lines = await audit.erase(userId)
      if (rows + lines + calls > 0) return { rows, lines }
      await undoRemoval(storage, userId)
      throw new HostError('not-found', { detail: 'There is nothing of such a user.' })
    },
  }
}
