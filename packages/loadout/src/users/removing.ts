/** Tracks users who are being removed: while their calls end, new calls are refused and nothing is counted for them. */
import type { Budgets } from '../policy/limits/budgets.ts'

export interface UsersBeingRemoved {
  has(userId: string): boolean
  during<T>(userId: string, work: () => Promise<T>): Promise<T>
}

export function createUsersBeingRemoved(): UsersBeingRemoved {
  const counts = new Map<string, number>()
  return {
    has: (userId) => counts.has(userId),
    async during(userId, work) {
      counts.set(userId, (counts.get(userId) ?? 0) + 1)
      try {
        return await work()
      } finally {
        const left = (counts.get(userId) ?? 1) - 1
        if (left > 0) counts.set(userId, left)
        else counts.delete(userId)
      }
    },
  }
}

/** Wraps budgets so that they write nothing for users who are being removed. */
export function ignoringRemovedUsers(budgets: Budgets, removing: UsersBeingRemoved): Budgets {
  return {
    ...budgets,
    spend: (key, amount) => (removing.has(key.userId) ? undefined : budgets.spend(key, amount)),
    giveBack: (key) => (removing.has(key.userId) ? undefined : budgets.giveBack(key)),
  }
}
