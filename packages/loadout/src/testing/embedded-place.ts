/** Processes of the embedded engine over one storage, for its suite. */
import { createPresence } from '../policy/presence.ts'
import { createEmbeddedEngine } from '../runs/embedded.ts'
import type { Storage } from '../storage/storage.ts'
import type { EnginePlace } from './engine-suite-case.ts'

export function embeddedPlace(storage: Storage, close: () => Promise<void> = async () => {}): EnginePlace {
  return {
    async start({ works, answered }) {
      let isDead = false
      const presence = createPresence(storage)
      // A process that is gone writes nothing.
      const mortal: Storage = {
        ...{ name: storage.name, watch: (listener) => storage.watch(listener), ready: () => storage.ready() },
        close: async () => {},
        transaction: (access, work) => (isDead ? new Promise<never>(() => {}) : storage.transaction(access, work)),
      }
      const engine = createEmbeddedEngine({
        ...{ storage: mortal, presence, works, lookMs: 200 },
        isAnswered: async (_, ids) => ids.some((id) => answered.has(id)),
      })
      return {
        engine,
        async kill() {
          isDead = true
          await presence.close()
        },
        async close() {
          if (isDead) return
          await engine.close()
          await presence.close()
        },
      }
    },
    close,
  }
}
