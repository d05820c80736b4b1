/**
 * Sign-in rate limit. Each attempt is counted in the storage by compare-and-set before anything is compared, so the
 * count is exact across processes; a success is refunded. Subjects are stored as HMACs, and unknown accounts count
 * too.
 */
import { createHmac } from 'node:crypto'
import { HostError, type Storage } from '@loadout/core'

export interface AttemptLimit {
  max: number
  windowMs: number
}

export interface Attempts {
  /** Counts an attempt, or throws `limit-reached`. */
  take(subject: string, limit: AttemptLimit): Promise<void>
  /** Refunds a successful attempt. */
  giveBack(subject: string): Promise<void>
  /** Resets the count. */
  forget(subject: string): Promise<void>
}

const access = { caller: 'sign-in' } as const
/** Each round of concurrent attempts has one winner, and a limit allows fewer winners than this. */
const ROUNDS = 1000

export function createAttempts(storage: Storage, secret: string): Attempts {
  const idOf = (subject: string) => createHmac('sha256', secret).update(`attempts ${subject}`).digest('hex')

  /** Returns undefined if counted, the end of the window if refused, and `again` on a concurrent update. */
  const tryOnce = (attemptsId: string, { max, windowMs }: AttemptLimit): Promise<Date | 'again' | undefined> =>
    storage.transaction(access, async (tx) => {
      const now = new Date()
      const fresh = { count: 1, endsAt: new Date(now.getTime() + windowMs) }
      const row = await tx.get('signInAttempts', attemptsId)
      if (!row) {
        await tx.insert('signInAttempts', { attemptsId, ...fresh })
        return undefined
      }
      const { count, endsAt } = row
      if (endsAt > now && count >= max) return endsAt
      const set = endsAt > now ? { count: count + 1 } : fresh
      return (await tx.update('signInAttempts', attemptsId, { set, where: { count, endsAt } })) ? undefined : 'again'
    })

  return {
    async take(subject, limit) {
      const id = idOf(subject)
      for (let round = 0; round < ROUNDS; round++) {
        const outcome = await tryOnce(id, limit).catch(againWhereTaken)
        if (outcome === undefined) return
        if (outcome !== 'again') throw tooMany(outcome)
      }
      throw new HostError('storage-unavailable', { detail: 'Too many try to sign in at once.' })
    },
    async giveBack(subject) {
      const id = idOf(subject)
      const tryBack = () =>
        storage.transaction(access, async (tx) => {
          const row = await tx.get('signInAttempts', id)
          if (!row || row.count <= 0) return true
          const { count, endsAt } = row
          const set = { count: count - 1 }
          return (await tx.update('signInAttempts', id, { set, where: { count, endsAt } })) !== undefined
        })
      for (let round = 0; round < ROUNDS; round++) if (await tryBack()) return
    },
    async forget(subject) {
      await storage.transaction(access, (tx) => tx.delete('signInAttempts', idOf(subject)))
    },
  }
}

function againWhereTaken(error: unknown): 'again' {
  if (HostError.is(error) && error.code === 'conflict') return 'again'
  throw error
}

function tooMany(until: Date): HostError {
  const ms = Math.max(1000, until.getTime() - Date.now())
  return new HostError('limit-reached', {
    detail: 'There were too many attempts to sign in.',
    action: `Try again in ${Math.ceil(ms / 60_000)} min, or ask an operator.`,
    retryAfterMs: ms,
  })
}
