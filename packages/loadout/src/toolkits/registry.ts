/**
 * Which servers exist, for whom. Register, change and remove toolkits at the app and the user tier, at run time.
 * Secrets leave the record before it is stored; a reader gets placeholders. A user's toolkit hides the app's of the same
 * id, and says so.
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
/** More at once would drown who listens; they look anew instead. */
const MAX_EVENTS = 500

export type { ToolkitOwner }

export interface Registered {
  stored: StoredToolkit
  created: boolean
  warnings: string[]
}

export interface RegisterOptions extends Omit<WriteOptions, 'defaults'> {
  /** How its tools are shown. Functions are not stored: this holds for this process, until it is registered again. */
  transform?: readonly ToolTransformer[]
}

export interface Registry {
  /** Adds, or updates the one with the same id or name. */
  register(input: unknown, owner: ToolkitOwner, options?: RegisterOptions): Promise<Registered>
  /** What registering it would say of the record: throws, or gives warnings. Writes nothing. */
  check(input: unknown, owner: ToolkitOwner): Promise<string[]>
  /** Changes some fields of one, where asked only if nobody else did since. */
  update(toolkit: ToolkitToChange, changes: Record<string, unknown>, owner: ToolkitOwner): Promise<Registered>
  /** Removes it with its tools and credentials. Calls in flight finish. `source` is who defined it, where that was not a person. */
  remove(id: string, owner: ToolkitOwner, source?: string): Promise<void>
  /** All that a user has: their own and the app's, the hidden ones left out. */
  list(userId: string): Promise<readonly StoredToolkit[]>
  /** Those, and beside them the hidden ones. */
  offered(userId: string): Promise<Visible>
  /** The app's own. */
  app(): Promise<readonly StoredToolkit[]>
  /** Those of them that are stored by now, without waiting for what is defined outside. */
  appStored(): Promise<readonly StoredToolkit[]>
  /** One of a user's, by its id or `usco_…`. */
  find(userId: string, id: string): Promise<StoredToolkit>
  /** What was given with its registration in this process. */
  transformersOf(uscoId: string): readonly ToolTransformer[]
  /** The functions of its tools, in this process. */
  bind(stored: StoredToolkit, functions: ReadonlyMap<string, ToolFunction>): void
  /** What the app sets for records that say nothing of it. */
  defaults(): Promise<ToolkitDefaults>
  /** A user's own switch for a toolkit of the app. */
  setEnabled(userId: string, id: string, enabled: boolean): Promise<void>
}

export interface RegistryDeps {
  storage: Storage
  cache: ReadCache
  secrets: SecretKeeper
  events: Emitter
  functions: Functions
  /** What the app sets for records that say nothing of it. */
  defaults(): Promise<ToolkitDefaults>
  /** Whether a source of this host defines the toolkit; one that none defines any more is an operator's to remove. */
  isDefined?: ((source: string, id: string) => boolean) | undefined
  /** Throws where the code, hosts or tools of a custom toolkit are wrong; gives warnings. */
  check?: ((input: unknown, owner: ToolkitOwner, over?: Toolkit) => Promise<string[]>) | undefined
  /** Waited for before anything is shown: what is defined outside the database may not be there yet. */
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
      // Where there is none, the writer says so.
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

/** For the user, and for each thread that had one of them loaded. */
const unloadedBy = ({ row, tools, loaded }: Removed): Array<{ ref: string; threadId?: string }> => [
  ...tools.slice(0, MAX_EVENTS).map((tool) => ({ ref: `${row.slug}.${tool}` })),
  ...loaded.slice(0, MAX_EVENTS),
]

/** By its own source; or by an operator, where no source of this host defines it any more. */
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

/** The app's toolkits are read and kept once, however many users there are. */
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
