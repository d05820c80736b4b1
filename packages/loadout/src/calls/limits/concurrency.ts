/** Limits concurrent calls per user and per toolkit, across all processes that share the storage. */
import { HostError } from '../../errors.ts'
import type { ProcessLease } from '../../processes/heartbeat.ts'
import type { AppConfig } from '../../schema/app-config.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ResolvedCall } from '../call.ts'
import { ConcurrencySlots } from './shared-counter.ts'

export type Acquired = { release(): void } | { full: HostError }

export interface Concurrency {
  /** Synchronous if there is no limit. Rejects if the storage fails. */
  acquire(call: Pick<ResolvedCall, 'userId' | 'stored'>, limits: ConcurrencyLimits): Acquired | Promise<Acquired>
  /** Releases the remaining slots. */
  close(): Promise<void>
}

type ConcurrencyLimits = Pick<AppConfig['limits'], 'concurrencyPerUser' | 'concurrencyPerToolkit'>

interface Limit {
  name: keyof ConcurrencyLimits
  max: number
  subject: string
}

const UNLIMITED: Acquired = { release() {} }

export function createConcurrency({ storage, presence }: { storage: Storage; presence: ProcessLease }): Concurrency {
  const slotsById = new Map<string, ConcurrencySlots>()
  const slotsFor = (userId: string, subject: string): ConcurrencySlots => {
    const id = JSON.stringify([userId, subject])
    const existing = slotsById.get(id)
    if (existing) return existing
    const deps = { storage, processId: presence.processId, onIdle: () => void slotsById.delete(id) }
    const slots = new ConcurrencySlots(deps, { userId, subject })
    slotsById.set(id, slots)
    return slots
  }
  const acquireAll = async (userId: string, limits: Limit[]): Promise<Acquired> => {
    const acquired: ConcurrencySlots[] = []
    const releaseLease = await presence.acquire()
    const release = () => {
      for (const slots of acquired.splice(0)) slots.release()
      releaseLease()
    }
    try {
      for (const limit of limits) {
        const slots = slotsFor(userId, limit.subject)
        if (await slots.acquire(limit.max)) acquired.push(slots)
        else {
          release()
          return { full: full(limit) }
        }
      }
      return { release }
    } catch (error) {
      release()
      throw error
    }
  }
  return {
    acquire({ userId, stored }, { concurrencyPerToolkit, concurrencyPerUser }) {
      if (concurrencyPerToolkit === undefined && concurrencyPerUser === undefined) return UNLIMITED
      return acquireAll(userId, [
        ...limit('concurrencyPerToolkit', concurrencyPerToolkit, `toolkit:${stored.uscoId}`),
        ...limit('concurrencyPerUser', concurrencyPerUser, 'user'),
      ])
    },
    async close() {
      await Promise.all([...slotsById.values()].map((slots) => slots.close()))
    },
  }
}

const limit = (name: Limit['name'], max: number | undefined, subject: string): Limit[] =>
  max === undefined ? [] : [{ name, max, subject }]

const full = ({ name, max }: Limit) =>
  new HostError('limit-reached', {
    detail: `${name} is ${max}, and as many calls are under way.`,
    action: 'Wait for one of them to end.',
  })
