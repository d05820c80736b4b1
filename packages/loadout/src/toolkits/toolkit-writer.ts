/** Writes toolkits: finds the existing row, extracts secrets, and stores both in one transaction. */
import { HostError } from '../errors.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import { readToolkit } from '../schema/read/read-toolkit.ts'
import type { UserServerConfigRow } from '../schema/toolkit/catalog.ts'
import type { ConfigType } from '../schema/toolkit/server.ts'
import type { Toolkit, ToolkitDefaults } from '../schema/toolkit/toolkit.ts'
import type { Access, Storage, Transaction } from '../storage/storage.ts'
import { isSameBinding, isSameServer } from './binding.ts'
import { linkToMarketplace } from './marketplace-link.ts'
import { takeSecrets } from './secrets/secrets.ts'
import { fromRow, toColumns } from './stored-toolkit.ts'

/** Owner of a toolkit, and the operator who changes app toolkits. */
export type ToolkitOwner = { tier: 'app'; actor?: string | undefined } | { tier: 'user'; userId: string }

/** Part of the credential store that the registry needs. */
export interface SecretKeeper {
  save(tx: Transaction, owner: { userId: string; toolkit: string }, secrets: Record<string, string>): Promise<void>
  clear(tx: Transaction, owner: { userId: string; toolkit: string }, fields?: readonly string[]): Promise<void>
  fields(tx: Transaction, owner: { userId: string; toolkit: string }): Promise<string[]>
  /** The named secrets, without those that cannot be decrypted. */
  read(tx: Transaction, owner: { userId: string; toolkit: string }, fields: string[]): Promise<Record<string, string>>
}

export interface Written {
  row: UserServerConfigRow
  created: boolean
  warnings: string[]
  secrets: SecretChanges
}

/** Secret fields that were set and cleared. */
export interface SecretChanges {
  set: string[]
  cleared: string[]
}

export interface WriteOptions {
  /** Marketplace server of the toolkit. It stays until it is replaced or set to null. */
  serverId?: string | null | undefined
  /** The toolkit to update, regardless of id and name. */
  uscoId?: string
  /** Expected config type; a record of another type is rejected. */
  configType?: ConfigType | undefined
  /** Values of the record's secret placeholders, by field. With it, no stored secret is retained. */
  secrets?: Readonly<Record<string, string>>
  /** Source that defines the toolkit outside the database. Only that source may change it. */
  source?: string
  /** Values for settings that the record does not set. */
  defaults?: ToolkitDefaults
}

/** Id or `usco_…`; with `unchangedSince`, only if the row is unchanged since then. */
export type ToolkitToChange = string | { id: string; unchangedSince?: Date | undefined }

export interface ToolkitWriter {
  register(input: unknown, owner: ToolkitOwner, options: WriteOptions): Promise<Written>
  update(toolkit: ToolkitToChange, changes: Record<string, unknown>, owner: ToolkitOwner): Promise<Written>
  /** Returns the deleted row and the names of its tools. */
  remove(id: string, owner: ToolkitOwner, mayRemove: (row: UserServerConfigRow) => boolean): Promise<Removed>
}

export interface Removed extends Pick<Written, 'row' | 'secrets'> {
  tools: string[]
  /** Tools that threads of the owner had loaded. */
  loaded: Array<{ threadId: string; ref: string }>
}

interface Plan {
  owner: string
  existing: UserServerConfigRow | undefined
  toolkit: Toolkit
  serverId: string | null
  inlineSecrets?: Readonly<Record<string, string>> | undefined
  unchangedSince?: Date | undefined
}

export function createToolkitWriter({ storage, secrets }: { storage: Storage; secrets: SecretKeeper }): ToolkitWriter {
  const inTransaction = <T>(owner: ToolkitOwner, work: (tx: Transaction) => Promise<T>): Promise<T> =>
    retryOnConflict(() => storage.transaction(accessOf(owner), work)).catch((error: unknown) => {
      throw asToolkitConflict(error)
    })

  return {
    async register(input, owner, { uscoId, secrets: inlineSecrets, source, defaults, ...link }) {
      const read = readToolkit(input, defaults ? { defaults } : {})
      if (read.tier !== undefined && read.tier !== owner.tier) throw wrongTier(read.tier)
      const userId = ownerIdOf(owner)
      return inTransaction(owner, async (tx) => {
        const existing = uscoId === undefined ? await findExisting(tx, userId, read) : await ownRow(tx, userId, uscoId)
        if (uscoId !== undefined && !existing) throw notFound(uscoId)
        if (existing) assertSource(existing, source)
        // A derived id stays, or becomes the next free one.
        const id = existing?.slug ?? (read.hasExplicitId ? read.toolkit.id : await freeId(tx, userId, read.toolkit.id))
        const stored = await store(tx, secrets, {
          owner: userId,
          existing,
          toolkit: { ...read.toolkit, id, ...(source === undefined ? {} : { source }) },
          serverId: await linkToMarketplace(tx, { ...link, server: read.toolkit.server, before: existing?.serverId }),
          inlineSecrets,
        })
        return {
          ...stored,
          created: existing === undefined,
          warnings: [...idWarnings(read, id, existing), ...read.warnings],
        }
      })
    },

    async update(target, changes, owner) {
      const userId = ownerIdOf(owner)
      const { id, unchangedSince } = typeof target === 'string' ? { id: target } : target
      return inTransaction(owner, async (tx) => {
        const existing = await ownRow(tx, userId, id)
        if (!existing) throw notFound(id)
        assertSource(existing, undefined)
        const { toolkit, warnings } = readToolkit(changes, { over: fromRow(existing).toolkit })
        if (unchangedSince && +existing.updatedAt !== +unchangedSince) throw changedSince()
        const { serverId } = existing
        const stored = await store(tx, secrets, { owner: userId, existing, toolkit, serverId, unchangedSince })
        return { ...stored, created: false, warnings }
      })
    },

    remove: (id, owner, mayRemove) =>
      storage.transaction(accessOf(owner), async (tx) => {
        const userId = ownerIdOf(owner)
        const row = await ownRow(tx, userId, id)
        if (!row) throw notFound(id)
        if (!mayRemove(row)) throw definedElsewhere(row)
        const where = { userId, uscoId: row.uscoId }
        const tools = (await tx.list('userServerTools', { where: { ...where, isActive: true }, limit: 10_000 })).map(
          (tool) => tool.name,
        )
        const credentialOwner = { userId, toolkit: row.uscoId }
        const cleared = await secrets.fields(tx, credentialOwner)
        await tx.delete('userServerConfigs', row.uscoId)
        await secrets.clear(tx, credentialOwner)
        if (owner.tier === 'user') await forgetUses(tx, userId, row.uscoId)
        const loaded = owner.tier === 'user' ? await forgetLoaded(tx, userId, row.slug) : []
        return { row, tools, loaded, secrets: { set: [], cleared } }
      }),
  }
}

async function store(
  tx: Transaction,
  secrets: SecretKeeper,
  { owner, existing, toolkit, serverId, inlineSecrets, unchangedSince }: Plan,
): Promise<Pick<Written, 'row' | 'secrets'>> {
  const uscoId = existing?.uscoId ?? newId('config')
  const credentialOwner = { userId: owner, toolkit: uscoId }
  const storedFields = existing ? await secrets.fields(tx, credentialOwner) : []
  const taken = takeSecrets(toolkit.server, storedFields, inlineSecrets)
  const after = { server: taken.server, overrides: toolkit.overrides }
  const stored = existing ? await secrets.read(tx, credentialOwner, Object.keys(taken.secrets)) : {}
  const isSame = existing && isSameBinding({ before: existing, after, submitted: taken.secrets, stored })
  const binding = isSame ? existing.binding : newId('binding')
  const columns = { ...toColumns({ ...toolkit, server: taken.server }, serverId), binding }
  // Strictly later than before on any clock, so that two changes have different times.
  const now = new Date(Math.max(Date.now(), existing ? existing.updatedAt.getTime() + 1 : 0))
  const isOtherServer = existing && !isSameServer(existing.configJson, columns.configJson)
  const row = existing
    ? await tx.update('userServerConfigs', uscoId, {
        set: { ...columns, ...(isOtherServer ? UNDISCOVERED : {}), updatedAt: now },
        ...(unchangedSince ? { where: { updatedAt: unchangedSince } } : {}),
      })
    : await insertConfig(tx, { uscoId, userId: owner, ...columns, eraJson: null, createdAt: now, updatedAt: now })
  if (!row) throw unchangedSince ? changedSince() : notFound(uscoId)
  const unused = storedFields.filter((field) => !taken.retained.includes(field) && !isSignIn(field))
  await secrets.clear(tx, credentialOwner, unused)
  await secrets.save(tx, credentialOwner, taken.secrets)
  if (isOtherServer) await forgetPins(tx, owner, uscoId)
  return { row, secrets: { set: Object.keys(taken.secrets), cleared: unused.filter(isNotIn(taken.secrets)) } }
}

/** A previous discovery does not apply to another server. Its tools stay until the new ones are stored. */
const UNDISCOVERED = { introspectionStatus: null, introspectionReason: null, introspectedAt: null }

const isNotIn = (record: object) => (name: string) => !Object.hasOwn(record, name)

const MAX_ATTEMPTS = 3

/** When two writers insert the same key, the loser retries and finds the winner's row. */
export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || !HostError.is(error) || error.code !== 'conflict') throw error
    }
  }
}

async function ownRow(tx: Transaction, userId: string, id: string): Promise<UserServerConfigRow | undefined> {
  const find = (where: Partial<UserServerConfigRow>) => tx.list('userServerConfigs', { where: { userId, ...where } })
  // A slug may start with `usco_` too.
  const [row] = id.startsWith('usco_') ? await find({ uscoId: id }) : []
  return row ?? (await find({ slug: id }))[0]
}

/** Changing the server accepts its new tools: they are discovered as new. */
async function forgetPins(tx: Transaction, userId: string, uscoId: string): Promise<void> {
  for (const pin of await tx.list('pins', { where: { userId, uscoId }, limit: 10_000 }))
    await tx.delete('pins', pin.pinId)
}

/** Removes the owner's usage of the tools. Usage of app toolkits belongs to each user and expires. */
async function forgetUses(tx: Transaction, userId: string, uscoId: string): Promise<void> {
  for (const use of await tx.list('toolUses', { where: { userId, uscoId }, limit: 10_000 }))
    await tx.delete('toolUses', use.toolUseId)
}

/** Unloads its tools: another toolkit with this id is not what threads loaded. */
async function forgetLoaded(tx: Transaction, userId: string, id: string): Promise<Removed['loaded']> {
  const rows = await tx.list('loadedTools', { where: { userId }, limit: 10_000 })
  const own = rows.filter(({ ref }) => ref.startsWith(`${id}.`))
  for (const row of own) await tx.delete('loadedTools', row.loadedToolId)
  return own.map(({ threadId, ref }) => ({ threadId, ref }))
}

async function insertConfig(
  tx: Transaction,
  columns: Omit<UserServerConfigRow, 'introspectionStatus' | 'introspectionReason' | 'introspectedAt'>,
): Promise<UserServerConfigRow> {
  const row = { ...columns, ...UNDISCOVERED }
  await tx.insert('userServerConfigs', row)
  return row
}

async function findExisting(
  tx: Transaction,
  userId: string,
  { toolkit, hasExplicitId }: { toolkit: Toolkit; hasExplicitId: boolean },
): Promise<UserServerConfigRow | undefined> {
  const find = (where: Partial<UserServerConfigRow>) => tx.list('userServerConfigs', { where: { userId, ...where } })
  const [sameId] = hasExplicitId ? await find({ slug: toolkit.id }) : []
  const [sameName] = await find({ name: toolkit.name })
  return sameId ?? sameName
}

async function freeId(tx: Transaction, userId: string, base: string): Promise<string> {
  for (let count = 1; ; count++) {
    const id = count === 1 ? base : `${base.slice(0, 44)}-${count}`
    const [taken] = await tx.list('userServerConfigs', { where: { userId, slug: id } })
    if (!taken) return id
  }
}

function idWarnings(
  { hasExplicitId, toolkit }: { hasExplicitId: boolean; toolkit: Toolkit },
  id: string,
  existing: UserServerConfigRow | undefined,
): string[] {
  if (id === toolkit.id) return []
  if (hasExplicitId) return [`The toolkit of this name has the id "${id}"; "${toolkit.id}" was not used`]
  return existing ? [] : [`Another toolkit has the id \`${toolkit.id}\`, so this one has the id \`${id}\`.`]
}

// OAuth tokens are not part of the record, so a changed record keeps them.
const isSignIn = (field: string) => field.startsWith('oauth.')

const ownerIdOf = (owner: ToolkitOwner) => (owner.tier === 'app' ? APP_OWNER : owner.userId)
const accessOf = (owner: ToolkitOwner): Access =>
  owner.tier === 'app' ? { caller: 'app-config', userId: APP_OWNER } : { userId: owner.userId }

export function notFound(id: string): HostError {
  return new HostError('not-found', { detail: `There is no toolkit "${id.slice(0, 80)}" of yours.` })
}

function assertSource({ optionsJson, slug }: UserServerConfigRow, source: string | undefined): void {
  if (optionsJson.source !== source) throw definedElsewhere({ optionsJson, slug })
}

function definedElsewhere({ optionsJson, slug }: Pick<UserServerConfigRow, 'optionsJson' | 'slug'>): HostError {
  const definedBy = optionsJson.source ?? 'the database'
  return new HostError('read-only', { detail: `"${slug}" is defined by ${definedBy}; change it there.` })
}

function wrongTier(tier: string): HostError {
  const message = `is "${tier}", but this registers at the other tier`
  return new HostError('invalid-input', { detail: `scope: ${message}`, errors: [{ path: 'scope', message }] })
}

const CHANGED_SINCE = 'Read it again, then send your changes on top of it.'
const changedSince = () =>
  new HostError('conflict', { detail: 'The toolkit was changed since you read it.', action: CHANGED_SINCE })

function asToolkitConflict(error: unknown): unknown {
  if (!HostError.is(error) || error.code !== 'conflict' || error.action === CHANGED_SINCE) return error
  const errors = (error.errors ?? []).map((field) => (field.path === 'slug' ? { ...field, path: 'id' } : field))
  const detail = `Another toolkit of yours has the same ${errors.map((field) => field.path).join(' and ')}.`
  return new HostError('conflict', { detail, errors, cause: error })
}
