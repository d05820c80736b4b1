/** Users who are being removed: while their calls end, no call of theirs begins and nothing is counted for them. */
import type { Budgets } from '../policy/limits/budgets.ts'

export interface UsersBeingRemoved {
  has(userId: string): boolean
  during<T>(userId: string, work: () => Promise<T>): Promise<T>
}

export function createLeaving(): UsersBeingRemoved {
  const leaving = new Map<string, number>()
  return {
    has: (userId) => leaving.has(userId),
    async during(userId, work) {
      leaving.set(userId, (leaving.get(userId) ?? 0) + 1)
      try {
        return await work()
      } finally {
        const left = (leaving.get(userId) ?? 1) - 1
        if (left > 0) leaving.set(userId, left)
        else leaving.delete(userId)
      }
    },
  }
}

/** Counters that write nothing for who leaves. */
export function ignoringRemovedUsers(budgets: Budgets, leaving: UsersBeingRemoved): Budgets {
  return {
    ...budgets,
    spend: (key, amount) => (leaving.has(key.userId) ? undefined : budgets.spend(key, amount)),
    giveBack: (key) => (leaving.has(key.userId) ? undefined : budgets.giveBack(key)),
  }
}
