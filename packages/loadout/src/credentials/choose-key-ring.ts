/** The key ring of a host: as it is given; without one, the storage's own; keys that live as long as a storage in memory does. */
import { HostError } from '../errors.ts'
import type { Storage } from '../storage/storage.ts'
import type { KeyRing } from './key-ring.ts'
import { lazyKeyRing, processKeyRing } from './lazy-key-ring.ts'

export function chooseKeyRing(storage: Storage, given: KeyRing | (() => Promise<KeyRing>) | undefined): KeyRing {
  if (typeof given === 'function') return lazyKeyRing(given)
  if (given) return given
  if (storage.keyRing) return lazyKeyRing(storage.keyRing)
  if (storage.name === 'memory') return processKeyRing()
  throw new HostError('config-invalid', {
    detail: `Storage "${storage.name}" outlives the process, so its credentials need a keyRing that does too.`,
    action: 'Give createHost a keyRing: keyFileRing(path), masterKeyRing(key) or browserKeyRing().',
  })
}
