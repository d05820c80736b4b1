/**
 * Registry of toolkits: registers, updates and removes them at the app and user tier at run time. Secrets leave the
 * record before it is stored, and readers get placeholders. A user toolkit shadows the app toolkit of the same id and
 * reports it.
 */

import type { Emitter, HostEvent } from '../events.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import { readToolkit } from '../schema/read/read-toolkit.ts'
import type { UserServerConfigRow } from '../schema/toolkit/catalog.ts'
import type { ToolTransformer } from '../schema/toolkit/tool.ts'
import type { Toolkit, ToolkitDefaults } from '../schema/toolkit/toolkit.ts'
import type { ReadCache, Storage, Transaction } from '../storage/storage.ts'
import { type Functions, type ToolFunction, takeFunctions } from './functions.ts'
import { fromRow, type StoredToolkit, type Visible, visibleTo } from './stored-toolkit.ts'
import {
  createToolkitWriter,
  notFound,
  type Removed,
  retryOnConflict,
  type SecretKeeper,
  type ToolkitOwner,
  type ToolkitToChange,
  type WriteOptions,
  type Written,
} from './toolkit-writer.ts'

const LIST_LIMIT = 10_000
const NONE: readonly ToolTransformer[] = []
/** More events at once would flood listeners; they reload instead. */
const MAX_EVENTS = 500

export type { ToolkitOwner }

export interface Registered {
  stored: StoredToolkit
  created: boolean
  warnings: string[]
}

export interface RegisterOptions extends Omit<WriteOptions, 'defaults'> {
  /** Transformers of its tools. Functions are not stored: they apply in this process, until the next registration. */
  transform?: readonly ToolTransformer[]
}

export interface Registry {
  /** Adds the toolkit, or updates the one with the same id or name. */
  register(input: unknown, owner: ToolkitOwner, options?: RegisterOptions): Promise<Registered>
  /** Validates a record as `register` would: throws, or returns warnings. Writes nothing. */
  check(input: unknown, owner: ToolkitOwner): Promise<string[]>
  /** Changes fields of a toolkit, optionally only if it is unchanged since a time. */
  update(toolkit: ToolkitToChange, changes: Record<string, unknown>, owner: ToolkitOwner): Promise<Registered>
  /**
   * Removes the toolkit with its tools and credentials. Calls in flight finish. `source` is set when a source removes
   * it.
   */
  remove(id: string, owner: ToolkitOwner, source?: string): Promise<void>
  /** Toolkits of a user: their own and the app's, without shadowed ones. */
  list(userId: string): Promise<readonly StoredToolkit[]>
  /** Visible and shadowed toolkits of a user. */
  offered(userId: string): Promise<Visible>
  /** App toolkits, after the sources are ready. */
  app(): Promise<readonly StoredToolkit[]>
  /** App toolkits that are stored, without waiting for sources. */
  appStored(): Promise<readonly StoredToolkit[]>
  /** A user's toolkit by id or `usco_…`. */
  find(userId: string, id: string): Promise<StoredToolkit>
  /** Transformers from its registration in this process. */
  transformersOf(uscoId: string): readonly ToolTransformer[]
  /** Binds the functions of its tools in this process. */
  bind(stored: StoredToolkit, functions: ReadonlyMap<string, ToolFunction>): void
  /** App-wide defaults for toolkit settings. */
  defaults(): Promise<ToolkitDefaults>
  /** Turns an app toolkit on or off for one user. */
  setEnabled(userId: string, id: string, enabled: boolean): Promise<void>
}

export interface RegistryDeps {
  storage: Storage
  cache: ReadCache
  secrets: SecretKeeper
  events: Emitter
  functions: Functions
  /** App-wide defaults for toolkit settings. */
  defaults(): Promise<ToolkitDefaults>
  /**
   * Whether a source of this host defines the toolkit. Operators may remove a toolkit that no source defines any more.
   */
  isDefined?: ((source: string, id: string) => boolean) | undefined
  /** Validates the code, hosts and tools of a custom toolkit: throws, or returns warnings. */
  check?: ((input: unknown, owner: ToolkitOwner, over?: Toolkit) => Promise<string[]>) | undefined
  /** Awaited before reads, because sources may not be loaded yet. */
  ready?: (() => Promise<void>) | undefined
}

export function createRegistry(deps: RegistryDeps): Registry {
  const { storage, secrets, events, functions, defaults, check = async () => [] } = deps
  const transformers = new Map<string, readonly ToolTransformer[]>()
  const mayRemove = (row: UserServerConfigRow, source: string | undefined) => mayBeRemoved(row, source, deps)
  const writer = createToolkitWriter({ storage, secrets })
  const { emit, emitSecrets } = createNotifier(events)
  const { appToolkits, offered } = createReads(deps)
  const list = async (userId: string) => (await offered(userId)).visible

  async function find(userId: string, id: string): Promise<StoredToolkit> {
    const found = (await list(userId)).find((stored) => stored.uscoId === id || stored.toolkit.id === id)
    if (!found) throw notFound(id)
    return found
  }

  return {
    list,
    find,
    offered,
    appStored: appToolkits,
    async app() {
      await deps.ready?.()
      return appToolkits()
    },
    transformersOf: (uscoId) => transformers.get(uscoId) ?? NONE,
    defaults,
    bind: ({ userId, toolkit }, boundFunctions) => functions.put({ userId, toolkit: toolkit.id }, boundFunctions),
    async register(record, owner, { transform, ...options } = {}) {
      const { input, functions: toolFunctions } = takeFunctions(record)
      const checkWarnings = await check(input, owner)
      const withDefaults = { ...options, defaults: await defaults() }
      const written = await writer.register(input, owner, withDefaults)
      const { row, created, warnings } = written
      functions.put({ userId: row.userId, toolkit: row.slug }, toolFunctions)
      if (transform) transformers.set(row.uscoId, transform)
      emit(created ? 'toolkit-registered' : 'toolkit-updated', row, owner)
      emitSecrets(written, owner)
      return { stored: fromRow(row), created, warnings: [...warnings, ...checkWarnings] }
    },
    check: (input, owner) => checkRecord(deps, input, owner),
    async update(target, changes, owner) {
      const id = typeof target === 'string' ? target : target.id
      const toolkits = owner.tier === 'app' ? await appToolkits() : await list(owner.userId)
      const before = toolkits.find(
        (stored) => stored.tier === owner.tier && (stored.uscoId === id || stored.toolkit.id === id),
      )
      // The writer throws when there is none.
      const checkWarnings = before ? await check(changes, owner, before.toolkit) : []
      const written = await writer.update(target, changes, owner)
      emit('toolkit-updated', written.row, owner)
      emitSecrets(written, owner)
      return { stored: fromRow(written.row), created: false, warnings: [...written.warnings, ...checkWarnings] }
    },
    async remove(id, owner, source) {
      const removed = await writer.remove(id, owner, (row) => mayRemove(row, source))
      const { row } = removed
      transformers.delete(row.uscoId)
      functions.put({ userId: row.userId, toolkit: row.slug }, new Map())
      emit('toolkit-removed', row, owner)
      emitSecrets(removed, owner)
      for (const unloaded of unloadedBy(removed))
        events.emit({ type: 'tool-unloaded', userId: row.userId, ...unloaded })
    },
    async setEnabled(userId, id, enabled) {
      const { toolkit, uscoId } = await find(userId, id)
      await retryOnConflict(() =>
        storage.transaction({ userId }, (tx) => switchToolkit(tx, { userId, ref: toolkit.id, on: enabled })),
      )
      events.emit({ type: 'toolkit-switched', userId, toolkit: toolkit.id, uscoId })
    },
  }
}

async function checkRecord(
  { defaults, check }: Pick<RegistryDeps, 'defaults' | 'check'>,
  input: unknown,
  owner: ToolkitOwner,
): Promise<string[]> {
  const checkWarnings = (await check?.(input, owner)) ?? []
  return [...readToolkit(input, { defaults: await defaults() }).warnings, ...checkWarnings]
}

/** Unload events for the user, and for each thread that had a tool loaded. */
const unloadedBy = ({ row, tools, loaded }: Removed): Array<{ ref: string; threadId?: string }> => [
  ...tools.slice(0, MAX_EVENTS).map((tool) => ({ ref: `${row.slug}.${tool}` })),
  ...loaded.slice(0, MAX_EVENTS),
]

/** Allowed for its own source, or for an operator when no source of this host defines the toolkit any more. */
function mayBeRemoved(
  { optionsJson, slug }: UserServerConfigRow,
  source: string | undefined,
  { isDefined }: Pick<RegistryDeps, 'isDefined'>,
): boolean {
  const definedBy = optionsJson.source as string | undefined
  return definedBy === source || (source === undefined && isDefined?.(definedBy ?? '', slug) === false)
}

const actorOf = (owner: ToolkitOwner) =>
  owner.tier === 'app' && owner.actor !== undefined ? { actor: owner.actor } : {}

function createNotifier(events: Emitter) {
  return {
    emit: (
      type: 'toolkit-registered' | 'toolkit-updated' | 'toolkit-removed',
      { userId, slug: toolkit, uscoId }: UserServerConfigRow,
      owner: ToolkitOwner,
    ) => events.emit({ type, userId, toolkit, uscoId, ...actorOf(owner) } satisfies HostEvent),
    emitSecrets({ row, secrets: { set, cleared } }: Pick<Written, 'row' | 'secrets'>, owner: ToolkitOwner) {
      if (set.length + cleared.length === 0) return
      const { userId, slug: toolkit, uscoId } = row
      events.emit({ type: 'credentials-changed', userId, toolkit, uscoId, set, cleared, ...actorOf(owner) })
    },
  }
}

/** App toolkits are read and cached once for all users. */
function createReads({ storage, cache, ready }: RegistryDeps) {
  const appToolkits = (): Promise<readonly StoredToolkit[]> =>
    cache.read({ userId: APP_OWNER, name: 'toolkits' }, ['userServerConfigs'], () =>
      storage.transaction({ caller: 'app-config', userId: APP_OWNER }, async (tx) =>
        Object.freeze((await tx.list('userServerConfigs', { limit: LIST_LIMIT })).map(fromRow)),
      ),
    )

  const offered = (userId: string): Promise<Visible> =>
    ready ? ready().then(() => readOffered(userId)) : readOffered(userId)

  function readOffered(userId: string): Promise<Visible> {
    return cache.read({ userId, name: 'toolkits' }, ['userServerConfigs', 'activations'], async () => {
      const app = await appToolkits()
      return storage.transaction({ userId }, async (tx) => {
        const ownRows = await tx.list('userServerConfigs', { where: { userId }, limit: LIST_LIMIT })
        const switches = await tx.list('activations', { where: { userId, threadId: '' }, limit: LIST_LIMIT })
        return Object.freeze(visibleTo(ownRows, app, switches))
      })
    })
  }

  return { appToolkits, offered }
}

async function switchToolkit(
  tx: Transaction,
  { userId, ref, on }: { userId: string; ref: string; on: boolean },
): Promise<void> {
  const [row] = await tx.list('activations', { where: { userId, threadId: '', ref } })
  if (row) await tx.update('activations', row.activationId, { set: { on } })
  else
    await tx.insert('activations', {
      activationId: newId('activation'),
      userId,
      tier: 'user',
      threadId: '',
      ref,
      on,
      createdAt: new Date(),
    })
}
