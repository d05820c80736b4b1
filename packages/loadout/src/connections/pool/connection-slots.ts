/** Connection slots with a limit per user and per host. Waiters queue up to `queueMs`. */
import { HostError } from '../../errors.ts'
import { FairSemaphore, type SlotRequest } from '../../util/fair-semaphore.ts'

export interface ConnectionSlots {
  /** Resolves with a function that releases the slot. */
  acquire(userId: string | null): Promise<() => void>
  /** Reports that a connection became idle: its slot can go to the longest waiter. */
  notifyIdle(): void
  /** Number of waiters. */
  waiting(): number
}

export interface SlotLimits {
  maxPerUser: number
  maxPerHost: number
  queueMs: number
}

interface ConnectionRequest extends SlotRequest {
  userId: string | null
}

/** `evict` closes an idle connection and returns whether it could; undefined means of any user. */
export function createConnectionSlots(
  { maxPerUser, maxPerHost, queueMs }: SlotLimits,
  evict: (userId: string | null | undefined) => boolean,
): ConnectionSlots {
  const slots = new FairSemaphore<ConnectionRequest>({
    // A shared connection has no user and counts only for the host.
    keyOf: ({ userId }) => userId ?? undefined,
    isFree: (_, { total, used }) => total < maxPerHost && used < maxPerUser,
  })
  const isAtUserLimit = (userId: string | null) => userId !== null && slots.used(userId) >= maxPerUser
  const evictFor = (userId: string | null) => evict(isAtUserLimit(userId) ? userId : undefined)

  async function wait(userId: string | null): Promise<void> {
    const late = new AbortController()
    const timer = setTimeout(() => {
      const [limit, owner] = isAtUserLimit(userId) ? [maxPerUser, 'for one user'] : [maxPerHost, 'on this host']
      late.abort(new HostError('too-many-connections', { detail: `All ${limit} connections ${owner} are in use.` }))
    }, queueMs)
    try {
      await slots.acquire({ userId, signal: late.signal })
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async acquire(userId) {
      const request = { userId }
      if (!slots.isFree(request)) evictFor(userId)
      if (!slots.tryAcquire(request)) await wait(userId)
      let released = false
      return () => {
        if (released) return
        released = true
        slots.release(request)
      }
    },
    notifyIdle() {
      slots.waiting().some(({ userId }) => evictFor(userId))
    },
    waiting: () => slots.waiting().length,
  }
}
