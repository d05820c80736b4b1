/** The composition root: chooses defaults and wires the parts. It does nothing else, and it is the only file that knows everyone. */
import { type Calls, createCalls } from './calls/calls.ts'
import { compose } from './calls/compose.ts'
import { executeCall } from './calls/execute.ts'
import { createInputs, type Inputs } from './calls/inputs.ts'
import { resolveTool } from './calls/resolve.ts'
import { withPin } from './calls/with-pin.ts'
import { withValidation } from './calls/with-validation.ts'
import { type Catalog, createCatalog } from './catalog/catalog.ts'
import { createResources, type Prompts, type Resources } from './catalog/resources.ts'
import { type Connector, createConnector } from './connections/connector.ts'
import type { Drivers } from './connections/drivers.ts'
import type { PoolOptions } from './connections/pool.ts'
import { webDrivers } from './connections/web-drivers.ts'
import { type CredentialStore, createCredentialStore } from './credentials/credential-store.ts'
import type { KeyRing } from './credentials/key-ring.ts'
import { lazyKeyRing, processKeyRing } from './credentials/lazy-key-ring.ts'
import { HostError } from './errors.ts'
import { createEmitter, type Emitter } from './events.ts'
import { createPreferences, type PreferenceStore } from './loadout/preferences.ts'
import { createToolkitViews, type ToolkitViews } from './loadout/toolkit-views.ts'
import { APP_OWNER } from './schema/ids.ts'
import { memory } from './storage/memory.ts'
import { createReadCache } from './storage/read-cache.ts'
import type { Access, BackupStorage, Storage } from './storage/storage.ts'
import { createImports, type Imports } from './toolkits/imports.ts'
import { createRegistry, type Registry } from './toolkits/registry.ts'

export interface HostOptions {
  /** Where everything is kept. @default memory() */
  storage?: Storage
  /** Who holds the keys of the credentials. Needed with any storage that outlives the process. */
  keyRing?: KeyRing | (() => Promise<KeyRing>)
  /** How servers are reached. `nodeDrivers()` of `loadout/node` guards addresses and runs commands. @default fetch alone */
  drivers?: Drivers
  /** Limits of the connection pool. */
  pool?: Omit<PoolOptions, 'onChange'>
  /** How long discovered tools are served without looking again. @default 3_600_000 */
  toolCacheTtlMs?: number
  /** Told of what a listener of `events` threw. */
  onListenerError?: (error: unknown) => void
}

export interface Host extends AsyncDisposable {
  readonly toolkits: Registry
  /** Configs of other apps, in. */
  readonly imports: Imports
  /** Toolkits as people see them: with state and tools. */
  readonly views: ToolkitViews
  readonly catalog: Catalog
  readonly connections: Connector
  readonly resources: Resources
  readonly prompts: Prompts
  readonly calls: Calls
  readonly inputs: Inputs
  readonly credentials: CredentialStore
  readonly preferences: PreferenceStore
  readonly events: Emitter
  readonly storage: Storage
  /** A copy of the data, where the storage is one that can be copied. */
  readonly backup?: () => Promise<Uint8Array>
  /** Opens the storage and follows changes that other processes make. Everything else waits for the storage by itself. */
  ready(): Promise<void>
  close(): Promise<void>
}

export function createHost(options: HostOptions = {}): Host {
  const storage = options.storage ?? memory()
  const events = createEmitter(options.onListenerError)
  const cache = createReadCache(storage)
  const credentials = createCredentialStore({ storage, keyRing: chooseKeyRing(storage, options.keyRing) })
  const inputs = createInputs(events)
  const toolkits = createRegistry({ storage, cache, secrets: credentials, events })
  const connections = createConnector({
    drivers: options.drivers ?? webDrivers(),
    secrets: (owner) => credentials.open(owner),
    events,
    ask: inputs.ask,
    onToolsChanged: (stored, userId) => void catalog.changed(stored, userId).catch(() => {}),
    ...(options.pool ? { pool: options.pool } : {}),
  })
  const catalog = createCatalog({
    storage,
    cache,
    connector: connections,
    events,
    ...(options.toolCacheTtlMs === undefined ? {} : { ttlMs: options.toolCacheTtlMs }),
  })
  const pipeline = resolveTool(
    { registry: toolkits, catalog },
    compose([withPin, withValidation()], executeCall(connections)),
  )
  const following = followToolkits({ storage, events, connections })
  const close = async () => {
    await connections.close()
    await catalog.settled()
    cache.close()
    await following.stop()
    await storage.close()
  }
  return {
    storage,
    events,
    credentials,
    toolkits,
    imports: createImports(toolkits),
    catalog,
    connections,
    inputs,
    ...createResources({ registry: toolkits, connector: connections }),
    calls: createCalls({ pipeline, inputs }),
    views: createToolkitViews({ registry: toolkits, catalog, connector: connections }),
    preferences: createPreferences({ storage, cache, events }),
    ...('backup' in storage ? { backup: () => (storage as BackupStorage).backup() } : {}),
    async ready() {
      await storage.ready()
      await following.start()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * A toolkit that changed or went away lets its calls finish, and then its connections close; also where another process
 * did it. Changes by others are told as events from the time that somebody listens for them.
 */
function followToolkits({
  storage,
  events,
  connections,
}: {
  storage: Storage
  events: Emitter
  connections: Connector
}) {
  const stopEvents = events.on((event) => {
    if (event.type === 'toolkit-removed' || event.type === 'toolkit-updated') void connections.reset(event.uscoId)
    // A user's switch for a toolkit of the app is theirs alone.
    if (event.type === 'toolkit-switched') void connections.reset(event.uscoId, event.userId)
  })
  async function closeRemoved({ userId, id }: { userId: string; id: string }): Promise<void> {
    if (!connections.status().some(({ key }) => key.toolkit === id)) return
    const access: Access = userId === APP_OWNER ? { caller: 'app-config', userId } : { userId }
    const row = await storage.transaction(access, (tx) => tx.get('userServerConfigs', id))
    if (!row) await connections.retire(id)
  }
  let watching: Promise<() => void> | undefined
  return {
    start() {
      watching ??= storage.watch((change) => {
        if (change.kind !== 'row') return
        const { collection, userId, id } = change
        events.emit({ type: 'stored-changed', userId, collection, id })
        if (collection === 'userServerConfigs') void closeRemoved(change).catch(() => {})
      })
      return watching
    },
    async stop() {
      stopEvents()
      const unwatch = await watching?.catch(() => undefined)
      unwatch?.()
    },
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
