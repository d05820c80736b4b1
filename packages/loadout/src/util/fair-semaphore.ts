/** Fair semaphore for connections with a limit per user and per host. Waiters queue up to `queueMs`. */
import { HostError } from '../errors.ts'

export interface FairSemaphore {
  /** Resolves with a function that releases the slot. */
  acquire(userId: string | null): Promise<() => void>
  /** Reports that a connection became idle: its slot can go to the longest waiter. */
  notifyIdle(): void
  /** Number of waiters. */
  waiting(): number
}

interface Waiter {
  userId: string | null
  /** Acquires the slot synchronously, so that no other caller takes it in between. */
  grant(): void
}

export interface SlotLimits {
  maxPerUser: number
  maxPerHost: number
  queueMs: number
}

/** `evict` closes an idle connection and returns whether it could; undefined means of any user. */
export function createFairSemaphore(
  limits: SlotLimits,
  evict: (userId: string | null | undefined) => boolean,
): FairSemaphore {
  const perUser = new Map<string | null, number>()
  const queue: Waiter[] = []
  let total = 0
  const used = (userId: string | null) => perUser.get(userId) ?? 0
  // A shared connection has no user and counts only for the host.
  const isAtUserLimit = (userId: string | null) => userId !== null && used(userId) >= limits.maxPerUser
  const isFree = (userId: string | null) => total < limits.maxPerHost && !isAtUserLimit(userId)

  function acquireSlot(userId: string | null): () => void {
    total++
    perUser.set(userId, used(userId) + 1)
    let released = false
    return () => {
      if (released) return
      released = true
      total--
      if (used(userId) <= 1) perUser.delete(userId)
      else perUser.set(userId, used(userId) - 1)
      const next = queue.findIndex((waiting) => isFree(waiting.userId))
      if (next >= 0) queue.splice(next, 1)[0]?.grant()
    }
  }

  return {
    async acquire(userId) {
      if (!isFree(userId)) evict(isAtUserLimit(userId) ? userId : undefined)
      return isFree(userId) ? acquireSlot(userId) : enqueue(userId)
    },
    notifyIdle() {
      queue.some(({ userId }) => evict(isAtUserLimit(userId) ? userId : undefined))
    },
    waiting: () => queue.length,
  }

  function enqueue(userId: string | null): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiter = {
        userId,
        grant() {
          clearTimeout(timer)
          resolve(acquireSlot(userId))
        },
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1)
        const [limit, owner] = isAtUserLimit(userId)
          ? [limits.maxPerUser, 'for one user']
          : [limits.maxPerHost, 'on this host']
        reject(new HostError('too-many-connections', { detail: `All ${limit} connections ${owner} are in use.` }))
      }, limits.queueMs)
      queue.push(waiting)
    })
  }
}
