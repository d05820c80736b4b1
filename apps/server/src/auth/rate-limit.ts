/**
 * Who tries too often waits. A try is counted in the storage before anything is compared, by compare and set, so that the count
 * is exact however many processes are asked at once; who came in gets it back. Who is counted is a keyed hash: an account that
 * does not exist counts like one that does.
 */
import { createHmac } from 'node:crypto'
import { HostError, type Storage } from '@loadout/core'

export interface AttemptLimit {
  max: number
  windowMs: number
}

export interface Attempts {
  /** Counts a try, or throws `limit-reached`. */
  take(subject: string, limit: AttemptLimit): Promise<void>
  /** The try was a good one. */
  giveBack(subject: string): Promise<void>
  /** Whatever was tried before: it is over. */
  forget(subject: string): Promise<void>
}

const access = { caller: 'sign-in' } as const
/** Of those who meet one wins each time, and there are never more winners than a limit allows. */
const ROUNDS = 1000

export function createAttempts(storage: Storage, secret: string): Attempts {
  const idOf = (subject: string) => createHmac('sha256', secret).update(`attempts ${subject}`).digest('hex')

  /** The try was counted (undefined), refused until a time, or met another one (`again`). */
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
