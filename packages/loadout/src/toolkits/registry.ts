/**
 * Which servers exist, for whom. Register, change and remove toolkits at the app and the user tier, at run time.
 * Secrets leave the record before it is stored; a reader gets placeholders. A user's toolkit hides the app's of the same
 * id, and says so.
 */

import { HostError } from '../errors.ts'
import type { Emitter, HostEvent } from '../events.ts'
import type { UserServerConfigRow } from '../schema/catalog.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import { readToolkit } from '../schema/read-toolkit.ts'
import type { Toolkit } from '../schema/toolkit.ts'
import type { Access, ReadCache, Storage, Transaction } from '../storage/storage.ts'
import { takeSecrets } from './secrets.ts'
import { fromRow, type StoredToolkit, toColumns } from './stored-toolkit.ts'
import { visibleTo } from './visible.ts'

/** Where a toolkit belongs. */
export type ToolkitOwner = { tier: 'app' } | { tier: 'user'; userId: string }

/** The part of the credential store that the registry needs. */
export interface SecretKeeper {
  save(tx: Transaction, owner: { userId: string; toolkit: string }, secrets: Record<string, string>): Promise<void>
  clear(tx: Transaction, owner: { userId: string; toolkit: string }, fields?: readonly string[]): Promise<void>
  fields(tx: Transaction, owner: { userId: string; toolkit: string }): Promise<string[]>
}

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
  const emit = (type: 'toolkit-registered' | 'toolkit-updated' | 'toolkit-removed', row: UserServerConfigRow) =>
    events.emit({ type, userId: row.userId, toolkit: row.slug, uscoId: row.uscoId } satisfies HostEvent)

  async function store(
    tx: Transaction,
    plan: { owner: string; existing?: UserServerConfigRow; toolkit: Toolkit; serverId: string | null },
  ) {
    const { owner, existing, serverId } = plan
    const uscoId = existing?.uscoId ?? newId('config')
    const keeper = { userId: owner, toolkit: uscoId }
    const stored = existing ? await secrets.fields(tx, keeper) : []
    const taken = takeSecrets(plan.toolkit.server, stored)
    const columns = toColumns({ ...plan.toolkit, server: taken.server }, serverId)
    const now = new Date()
    const row = existing
      ? await tx.update('userServerConfigs', uscoId, { set: { ...columns, updatedAt: now } })
      : await insertConfig(tx, { uscoId, userId: owner, ...columns, createdAt: now, updatedAt: now })
    if (!row) throw notFound(uscoId)
    await secrets.clear(
      tx,
      keeper,
      stored.filter((field) => !taken.kept.includes(field) && !isSignIn(field)),
    )
    await secrets.save(tx, keeper, taken.secrets)
    return row
  }

  const inTransaction = <T>(owner: ToolkitOwner, work: (tx: Transaction) => Promise<T>): Promise<T> =>
    storage.transaction(accessOf(owner), work).catch((error: unknown) => {
      throw asToolkitConflict(error)
    })

  async function ownRow(tx: Transaction, owner: string, id: string): Promise<UserServerConfigRow | undefined> {
    const where = id.startsWith('usco_') ? { userId: owner, uscoId: id } : { userId: owner, slug: id }
    const [row] = await tx.list('userServerConfigs', { where })
    return row
  }

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
    async register(input, owner, { serverId, uscoId } = {}) {
      const { toolkit, idGiven, tier, warnings } = readToolkit(input)
      if (tier !== undefined && tier !== owner.tier) throw wrongTier(tier)
      const userId = ownerIdOf(owner)
      const { row, created } = await storage.transaction(accessOf(owner), async (tx) => {
        const existing =
          uscoId !== undefined ? await ownRow(tx, userId, uscoId) : await findExisting(tx, userId, { toolkit, idGiven })
        if (uscoId !== undefined && !existing) throw notFound(uscoId)
        // An id that was not given stays what it is, or becomes the next free one made from the name.
        const id = existing?.slug ?? (idGiven ? toolkit.id : await freeId(tx, userId, toolkit.id))
        const plan = {
          owner: userId,
          ...(existing ? { existing } : {}),
          toolkit: { ...toolkit, id },
          serverId: serverId ?? null,
        }
        return { row: await store(tx, plan), created: existing === undefined }
      })
      emit(created ? 'toolkit-registered' : 'toolkit-updated', row)
      return { stored: fromRow(row), created, warnings }
    },

    async update(id, changes, owner) {
      const userId = ownerIdOf(owner)
      let warnings: string[] = []
      const row = await inTransaction(owner, async (tx) => {
        const existing = await ownRow(tx, userId, id)
        if (!existing) throw notFound(id)
        const read = readToolkit(merge(fromRow(existing).toolkit, changes))
        warnings = read.warnings
        return store(tx, { owner: userId, existing, toolkit: read.toolkit, serverId: existing.serverId })
      })
      emit('toolkit-updated', row)
      return { stored: fromRow(row), created: false, warnings }
    },

    async remove(id, owner) {
      const userId = ownerIdOf(owner)
      const row = await storage.transaction(accessOf(owner), async (tx) => {
        const existing = await ownRow(tx, userId, id)
        if (!existing) throw notFound(id)
        await tx.delete('userServerConfigs', existing.uscoId)
        await secrets.clear(tx, { userId, toolkit: existing.uscoId })
        return existing
      })
      emit('toolkit-removed', row)
    },

    list,
    find,

    async setEnabled(userId, id, enabled) {
      const { toolkit, uscoId } = await find(userId, id)
      await storage.transaction({ userId }, async (tx) => {
        const [row] = await tx.list('activations', { where: { userId, threadId: '', ref: toolkit.id } })
        if (row) await tx.update('activations', row.activationId, { set: { on: enabled } })
        else
          await tx.insert('activations', {
            activationId: newId('activation'),
            userId,
            tier: 'user',
            threadId: '',
            ref: toolkit.id,
            on: enabled,
            createdAt: new Date(),
          })
      })
      events.emit({ type: 'toolkit-updated', userId, toolkit: toolkit.id, uscoId })
    },
  }
}

async function insertConfig(
  tx: Transaction,
  columns: Omit<UserServerConfigRow, 'introspectionStatus' | 'introspectionReason' | 'introspectedAt'>,
): Promise<UserServerConfigRow> {
  const row = { ...columns, introspectionStatus: null, introspectionReason: null, introspectedAt: null }
  await tx.insert('userServerConfigs', row)
  return row
}

async function findExisting(
  tx: Transaction,
  userId: string,
  { toolkit, idGiven }: { toolkit: Toolkit; idGiven: boolean },
): Promise<UserServerConfigRow | undefined> {
  const find = (where: Partial<UserServerConfigRow>) => tx.list('userServerConfigs', { where: { userId, ...where } })
  const [sameId] = idGiven ? await find({ slug: toolkit.id }) : []
  const [sameName] = await find({ name: toolkit.name })
  return sameId ?? sameName
}

async function freeId(tx: Transaction, userId: string, wanted: string): Promise<string> {
  for (let count = 1; ; count++) {
    const id = count === 1 ? wanted : `${wanted.slice(0, 44)}-${count}`
    const [taken] = await tx.list('userServerConfigs', { where: { userId, slug: id } })
    if (!taken) return id
  }
}

const SERVER_FIELDS = [
  'server',
  'type',
  'transport',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'auth',
  'oauth',
  'connection',
]

/** The current record with some fields changed: server fields one by one, or the whole server by `server`. */
function merge({ server, ...rest }: Toolkit, changes: Record<string, unknown>): Record<string, unknown> {
  const touchesServer = SERVER_FIELDS.some((field) => Object.hasOwn(changes, field))
  if (!touchesServer) return { ...rest, server, ...changes }
  const replaced =
    typeof changes.server === 'object' || typeof changes.transport === 'object' || Object.hasOwn(changes, 'connection')
  return { ...rest, ...(replaced ? {} : server), ...changes }
}

// Tokens that a sign-in stored are not part of the record, so a changed record does not take them away.
const isSignIn = (field: string) => field.startsWith('oauth.')

const ownerIdOf = (owner: ToolkitOwner) => (owner.tier === 'app' ? APP_OWNER : owner.userId)
/** A taken name or id, told as such and not as a row. */
function asToolkitConflict(error: unknown): unknown {
  if (!HostError.is(error) || error.code !== 'conflict') return error
  const errors = (error.errors ?? []).map((field) => (field.path === 'slug' ? { ...field, path: 'id' } : field))
  const detail = `Another toolkit of yours has the same ${errors.map((field) => field.path).join(' and ')}.`
  return new HostError('conflict', { detail, errors, cause: error })
}

const accessOf = (owner: ToolkitOwner): Access =>
  owner.tier === 'app' ? { caller: 'app-config', userId: APP_OWNER } : { userId: owner.userId }

function notFound(id: string): HostError {
  return new HostError('not-found', { detail: `There is no toolkit "${id.slice(0, 80)}" of yours.` })
}

function wrongTier(tier: string): HostError {
  const message = `is "${tier}", but this registers at the other tier`
  return new HostError('invalid-input', { detail: `scope: ${message}`, errors: [{ path: 'scope', message }] })
}
