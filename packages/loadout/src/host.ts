/** The composition root: chooses defaults and wires the parts. It does nothing else, and it is the only file that knows everyone. */
import { type CredentialStore, createCredentialStore } from './credentials/credential-store.ts'
import type { KeyRing } from './credentials/key-ring.ts'
import { lazyKeyRing, processKeyRing } from './credentials/lazy-key-ring.ts'
import { HostError } from './errors.ts'
import { createEmitter, type Emitter } from './events.ts'
import { createPreferences, type PreferenceStore } from './loadout/preferences.ts'
import { memory } from './storage/memory.ts'
import { createReadCache } from './storage/read-cache.ts'
import type { BackupStorage, Storage } from './storage/storage.ts'
import { createRegistry, type Registry } from './toolkits/registry.ts'

export interface HostOptions {
  /** Where everything is kept. @default memory() */
  storage?: Storage
  /** Who holds the keys of the credentials. Needed with any storage that outlives the process. */
  keyRing?: KeyRing | (() => Promise<KeyRing>)
  /** Told of what a listener of `events` threw. */
  onListenerError?: (error: unknown) => void
}

export interface Host extends AsyncDisposable {
  readonly toolkits: Registry
  readonly credentials: CredentialStore
  readonly preferences: PreferenceStore
  readonly events: Emitter
  readonly storage: Storage
  /** A copy of the data, where the storage is one that can be copied. */
  readonly backup?: () => Promise<Uint8Array>
  /** Opens the storage. Everything else waits for it by itself. */
  ready(): Promise<void>
  close(): Promise<void>
}

export function createHost(options: HostOptions = {}): Host {
  const storage = options.storage ?? memory()
  const keyRing = chooseKeyRing(storage, options.keyRing)
  const events = createEmitter(options.onListenerError)
  const cache = createReadCache(storage)
  const credentials = createCredentialStore({ storage, keyRing })
  const close = async () => {
    cache.close()
    await storage.close()
  }
  return {
    storage,
    events,
    credentials,
    toolkits: createRegistry({ storage, cache, secrets: credentials, events }),
    preferences: createPreferences({ storage, cache, events }),
    ...('backup' in storage ? { backup: () => (storage as BackupStorage).backup() } : {}),
    ready: () => storage.ready(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function chooseKeyRing(storage: Storage, given: HostOptions['keyRing']): KeyRing {
  if (typeof given === 'function') return lazyKeyRing(given)
  if (given) return given
  if (storage.name === 'memory') return processKeyRing()
  throw new HostError('config-invalid', {
    detail: `Storage "${storage.name}" outlives the process, so its credentials need a keyRing that does too.`,
    action: 'Give createHost a keyRing: keyFileRing(path), masterKeyRing(key) or browserKeyRing().',
  })
}
