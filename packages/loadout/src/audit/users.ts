/** A user who goes: out of every table, off every line, and out of the log, which stays whole without them. */
import type { Connector } from '../connections/connector.ts'
import { HostError } from '../errors.ts'
import type { Audit } from './audit.ts'

export interface Users {
  /** Removes all that a user has, and the user from the log. `not-found` where there is nothing of them. */
  remove(userId: string): Promise<{ rows: number; lines: number }>
}

export interface UserParts {
  /** Removes their rows from every collection but the log. Says how many. */
  removeRows(userId: string): Promise<number>
  connector: Pick<Connector, 'status' | 'reset'>
  audit: Pick<Audit, 'erase'>
  /** How long entries of other processes may still be on their way to the log. @default 1000 */
  settleMs?: number
}

export function createUsers({ removeRows, connector, audit, settleMs = 1000 }: UserParts): Users {
  const closeLines = (userId: string) => {
    const open = connector.status().filter(({ key }) => key.userId === userId)
    return Promise.all(open.map(({ key }) => connector.reset(key.toolkit, userId)))
  }
  return {
    async remove(userId) {
      let rows = await removeRows(userId)
      await closeLines(userId)
      let lines = await audit.erase(userId)
      if (rows + lines === 0) throw new HostError('not-found', { detail: 'There is nothing of such a user.' })
      // What was under way when they went may have written behind us.
      await new Promise((resolve) => setTimeout(resolve, settleMs))
      rows += await removeRows(userId)
      lines += await audit.erase(userId)
      return { rows, lines }
    },
  }
}
