import { createKvStorage } from './kv/kv-storage.ts'
import { memoryBackend } from './kv/memory-backend.ts'
import type { Storage } from './storage.ts'

/** Everything in this process, gone with it. For tests, and for hosts that keep nothing. */
export function memory(): Storage {
  return createKvStorage({ name: 'memory', open: async () => memoryBackend() })
}
