/** How many calls of a user are under way, to each toolkit and in all, over all processes that share the storage. */
import { HostError } from '../../errors.ts'
import type { ProcessLease } from '../../processes/heartbeat.ts'
import type { AppConfig } from '../../schema/app-config.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ResolvedCall } from '../call.ts'
import { ConcurrencySlots } from './shared-counter.ts'

export type Entered = { leave(): void } | { full: HostError }

export interface Concurrency {
  /** At once where nothing is to be waited for. Fails as the storage does. */
  enter(call: Pick<ResolvedCall, 'userId' | 'stored'>, limits: ConcurrencyLimits): Entered | Promise<Entered>
  /** Gives back what was left. */
  close(): Promise<void>
}

type ConcurrencyLimits = Pick<AppConfig['limits'], 'concurrencyPerUser' | 'concurrencyPerToolkit'>

interface Limit {
  name: keyof ConcurrencyLimits
  most: number
  subject: string
}

const FREE: Entered = { leave() {} }

export function createConcurrency({ storage, presence }: { storage: Storage; presence: ProcessLease }): Concurrency {
  const known = new Map<string, ConcurrencySlots>()
  const placesOf = (userId: string, subject: string): ConcurrencySlots => {
    const id = JSON.stringify([userId, subject])
    const found = known.get(id)
    if (found) return found
    const parts = { storage, processId: presence.processId, onIdle: () => void known.delete(id) }
    const places = new ConcurrencySlots(parts, { userId, subject })
    known.set(id, places)
    return places
  }
  const take = async (userId: string, limits: Limit[]): Promise<Entered> => {
    const taken: ConcurrencySlots[] = []
    const letGo = await presence.acquire()
    const leave = () => {
      for (const places of taken.splice(0)) places.release()
      letGo()
    }
    try {
      for (const limit of limits) {
        const places = placesOf(userId, limit.subject)
        if (await places.acquire(limit.most)) taken.push(places)
        else {
          leave()
          return { full: full(limit) }
        }
      }
      return { leave }
    } catch (error) {
      leave()
      throw error
    }
  }
  return {
    enter({ userId, stored }, { concurrencyPerToolkit, concurrencyPerUser }) {
      if (concurrencyPerToolkit === undefined && concurrencyPerUser === undefined) return FREE
      return take(userId, [
        ...limit('concurrencyPerToolkit', concurrencyPerToolkit, `toolkit:${stored.uscoId}`),
        ...limit('concurrencyPerUser', concurrencyPerUser, 'user'),
      ])
    },
    async close() {
      await Promise.all([...known.values()].map((places) => places.close()))
    },
  }
}

const limit = (name: Limit['name'], most: number | undefined, subject: string): Limit[] =>
  most === undefined ? [] : [{ name, most, subject }]

const full = ({ name, most }: Limit) =>
  new HostError('limit-reached', {
    detail: `${name} is ${most}, and as many calls are under way.`,
    action: 'Wait for one of them to end.',
  })
