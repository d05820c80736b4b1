import { createKvStorage } from './kv/kv-storage.ts'
import { memoryBackend } from './kv/memory-backend.ts'
import type { Storage } from './storage.ts'

/** Storage in the memory of this process, for tests and for hosts without persistence. */
export function memory(): Storage {
  return createKvStorage({ name: 'memory', open: async () => memoryBackend() })
}
