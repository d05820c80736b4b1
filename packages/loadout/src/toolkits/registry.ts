/**
 * Which servers exist, for whom. Register, change and remove toolkits at the app and the user tier, at run time.
 * Secrets leave the record before it is stored; a reader gets placeholders. A user's toolkit hides the app's of the same
 * id, and says so.
 */

import type { Emitter, HostEvent } from '../events.ts'
import type { UserServerConfigRow } from '../schema/catalog.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import type { ToolTransformer } from '../schema/transformer.ts'
import type { ReadCache, Storage, Transaction } from '../storage/storage.ts'
import { fromRow, type StoredToolkit } from './stored-toolkit.ts'
import { again, createToolkitWriter, notFound, type SecretKeeper, type ToolkitOwner } from './toolkit-writer.ts'
import { type Visible, visibleTo } from './visible.ts'

const LIST_LIMIT = 10_000
const NONE: readonly ToolTransformer[] = []

export type { ToolkitOwner }

export interface Registered {
  stored: StoredToolkit
  created: boolean
  warnings: string[]
}

export interface RegisterOptions {
  /** The marketplace server that it is made from. */
  serverId?: string
  /** The one to update, where its id or name does not say it. */
  uscoId?: string
  /** How its tools are shown. Functions are not stored: this holds for this process, until it is registered again. */
  transform?: readonly ToolTransformer[]
  /** Secrets that placeholders of the record mean, by field. With it, no stored secret is kept. */
  secrets?: Readonly<Record<string, string>>
}

export interface Registry {
  /** Adds, or updates the one with the same id or name. */
  register(input: unknown, owner: ToolkitOwner, options?: RegisterOptions): Promise<Registered>
  /** Changes some fields of one. `id` is the toolkit's id or its `usco_…`. */
  update(id: string, changes: Record<string, unknown>, owner: ToolkitOwner): Promise<Registered>
  /** Removes it with its tools and credentials. */
  remove(id: string, owner: ToolkitOwner): Promise<void>
  /** All that a user has: their own and the app's, the hidden ones left out. */
  list(userId: string): Promise<readonly StoredToolkit[]>
  /** Those, and beside them the hidden ones. */
  offered(userId: string): Promise<Visible>
  /** The app's own. */
  app(): Promise<readonly StoredToolkit[]>
  /** One of a user's, by its id or `usco_…`. */
  find(userId: string, id: string): Promise<StoredToolkit>
  /** What was given with its registration in this process. */
  transformersOf(uscoId: string): readonly ToolTransformer[]
  /** A user's own switch for a toolkit of the app. */
  setEnabled(userId: string, id: string, enabled: boolean): Promise<void>
}

export interface RegistryParts {
  storage: Storage
  cache: ReadCache
  secrets: SecretKeeper
  events: Emitter
}

export function createRegistry({ storage, cache, secrets, events }: RegistryParts): Registry {
  const transformers = new Map<string, readonly ToolTransformer[]>()
  const writer = createToolkitWriter({ storage, secrets })
  const emit = (type: 'toolkit-registered' | 'toolkit-updated' | 'toolkit-removed', row: UserServerConfigRow) =>
    events.emit({ type, userId: row.userId, toolkit: row.slug, uscoId: row.uscoId } satisfies HostEvent)

  const appToolkits = (): Promise<readonly StoredToolkit[]> =>
    cache.read({ userId: APP_OWNER, name: 'toolkits' }, ['userServerConfigs'], () =>
      storage.transaction({ caller: 'app-config', userId: APP_OWNER }, async (tx) =>
        Object.freeze((await tx.list('userServerConfigs', { limit: LIST_LIMIT })).map(fromRow)),
      ),
    )

  function offered(userId: string): Promise<Visible> {
    return cache.read({ userId, name: 'toolkits' }, ['userServerConfigs', 'activations'], async () => {
      const app = await appToolkits()
      return storage.transaction({ userId }, async (tx) => {
        const own = await tx.list('userServerConfigs', { where: { userId }, limit: LIST_LIMIT })
        const switches = await tx.list('activations', { where: { userId, threadId: '' }, limit: LIST_LIMIT })
        return Object.freeze(visibleTo(own, app, switches))
      })
    })
  }

  const list = async (userId: string) => (await offered(userId)).visible

  async function find(userId: string, id: string): Promise<StoredToolkit> {
    const found = (await list(userId)).find((one) => one.uscoId === id || one.toolkit.id === id)
    if (!found) throw notFound(id)
    return found
  }

  return {
    list,
    find,
    offered,
    app: appToolkits,
    transformersOf: (uscoId) => transformers.get(uscoId) ?? NONE,
    async register(input, owner, { transform, ...options } = {}) {
      const { row, created, warnings } = await writer.register(input, owner, options)
      if (transform) transformers.set(row.uscoId, transform)
      emit(created ? 'toolkit-registered' : 'toolkit-updated', row)
      return { stored: fromRow(row), created, warnings }
    },
    async update(id, changes, owner) {
      const { row, warnings } = await writer.update(id, changes, owner)
      emit('toolkit-updated', row)
      return { stored: fromRow(row), created: false, warnings }
    },
    async remove(id, owner) {
      const row = await writer.remove(id, owner)
      transformers.delete(row.uscoId)
      emit('toolkit-removed', row)
    },
    async setEnabled(userId, id, enabled) {
      const { toolkit, uscoId } = await find(userId, id)
      await again(() =>
        storage.transaction({ userId }, (tx) => switchToolkit(tx, { userId, ref: toolkit.id, on: enabled })),
      )
      events.emit({ type: 'toolkit-switched', userId, toolkit: toolkit.id, uscoId })
    },
  }
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
