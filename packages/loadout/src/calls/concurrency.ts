/** How many calls of a user are under way in this process, to each toolkit and in all. */
import { HostError } from '../errors.ts'
import type { AppConfig } from '../schema/app-config.ts'
import type { ResolvedCall } from './call.ts'

export type Entered = { leave(): void } | { full: HostError }

export interface Concurrency {
  /** At once where nothing is to be waited for. */
  enter(call: ResolvedCall, limits: AppConfig['limits']): Entered | Promise<Entered>
}

export function createConcurrency(): Concurrency {
  const running = new Map<string, number>()
  const count = (key: string, by: 1 | -1) => {
    const now = (running.get(key) ?? 0) + by
    if (now > 0) running.set(key, now)
    else running.delete(key)
  }
  return {
    enter({ userId, stored }, { concurrencyPerToolkit, concurrencyPerUser }) {
      const places = [
        { key: JSON.stringify([userId]), most: concurrencyPerUser, name: 'concurrencyPerUser' },
        { key: JSON.stringify([userId, stored.uscoId]), most: concurrencyPerToolkit, name: 'concurrencyPerToolkit' },
      ].filter((place) => place.most !== undefined)
      const full = places.find(({ key, most = 0 }) => (running.get(key) ?? 0) >= most)
      if (full)
        return {
          full: new HostError('limit-reached', {
            detail: `${full.name} is ${full.most}, and as many calls are under way.`,
            action: 'Wait for one of them to end.',
          }),
        }
      for (const { key } of places) count(key, 1)
      return {
        leave() {
          for (const { key } of places) count(key, -1)
        },
      }
    },
  }
}
