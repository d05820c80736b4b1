/**
 * Which servers exist, for whom. Register, change and remove toolkits at the app and the user tier, at run time.
 * Secrets leave the record before it is stored; a reader gets placeholders. A user's toolkit hides the app's of the same
 * id, and says so.
 */

import type { Emitter, HostEvent } from '../events.ts'
import type { UserServerConfigRow } from '../schema/catalog.ts'
import { newId } from '../schema/ids.ts'
import type { ReadCache, Storage, Transaction } from '../storage/storage.ts'
import { fromRow, type StoredToolkit } from './stored-toolkit.ts'
import { again, createToolkitWriter, notFound, type SecretKeeper, type ToolkitOwner } from './toolkit-writer.ts'
import { visibleTo } from './visible.ts'

export type { ToolkitOwner }

export interface Registered {
  stored: StoredToolkit
  created: boolean
  warnings: string[]
}

export interface Registry {
  /** Adds, or updates the one with the same id or name. */
  register(input: unknown, owner: ToolkitOwner, options?: { serverId?: string; uscoId?: string }): Promise<Registered>
  /** Changes some fields of one. `id` is the toolkit's id or its `usco_…`. */
  update(id: string, changes: Record<string, unknown>, owner: ToolkitOwner): Promise<Registered>
  /** Removes it with its tools and credentials. */
  remove(id: string, owner: ToolkitOwner): Promise<void>
  /** All that a user has: their own and the app's, the hidden ones left out. */
  list(userId: string): Promise<readonly StoredToolkit[]>
  /** One of those, by its id or `usco_…`. */
  find(userId: string, id: string): Promise<StoredToolkit>
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
  const writer = createToolkitWriter({ storage, secrets })
  const emit = (type: 'toolkit-registered' | 'toolkit-updated' | 'toolkit-removed', row: UserServerConfigRow) =>
    events.emit({ type, userId: row.userId, toolkit: row.slug, uscoId: row.uscoId } satisfies HostEvent)

  function list(userId: string): Promise<readonly StoredToolkit[]> {
    return cache.read({ userId, name: 'toolkits' }, ['userServerConfigs', 'activations'], () =>
      storage.transaction({ userId }, async (tx) => {
        const rows = await tx.list('userServerConfigs', { limit: 10_000 })
        const switches = await tx.list('activations', { where: { userId, threadId: '' }, limit: 10_000 })
        return Object.freeze(visibleTo(rows, switches))
      }),
    )
  }

  async function find(userId: string, id: string): Promise<StoredToolkit> {
    const found = (await list(userId)).find((one) => one.uscoId === id || one.toolkit.id === id)
    if (!found) throw notFound(id)
    return found
  }

  return {
    list,
    find,
    async register(input, owner, options = {}) {
      const { row, created, warnings } = await writer.register(input, owner, options)
      emit(created ? 'toolkit-registered' : 'toolkit-updated', row)
      return { stored: fromRow(row), created, warnings }
    },
    async update(id, changes, owner) {
      const { row, warnings } = await writer.update(id, changes, owner)
      emit('toolkit-updated', row)
      return { stored: fromRow(row), created: false, warnings }
    },
    async remove(id, owner) {
      emit('toolkit-removed', await writer.remove(id, owner))
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
