/**
 * Tools of each toolkit, served from storage, whether or not a server is available. Stale entries are served and
 * refreshed in the background; concurrent readers share one refresh.
 */
import type { Context } from '@opentelemetry/api'
import { LRUCache } from 'lru-cache'
import type { Connector } from '../connections/connector.ts'
import { originalMessage } from '../connections/redact-errors.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import type { AppConfig } from '../schema/app-config.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { ToolManifest } from '../schema/toolkit/tool.ts'
import type { Access, ReadCache, Storage } from '../storage/storage.ts'
import { failureText } from '../toolkits/last-failure.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { isTrusted } from '../toolkits/stored-toolkit.ts'
import type { CatalogTool } from './catalog-tools.ts'
import { declaredTools, readCustom, toolsOf, toTool } from './catalog-tools.ts'
import { createPersonalCatalogs, type PersonalCatalog, type PersonalCatalogs } from './personal-catalog.ts'
import { type ReadManifests, readManifests } from './read-manifests.ts'
import { RefreshQueue } from './refresh-queue.ts'
import { type Acceptance, acceptChanges, type CatalogChange, storeCatalog, storeFailure } from './store-catalog.ts'

export type { CatalogTool } from './catalog-tools.ts'

export interface Catalog {
  /** Tools of toolkits by `usco_…`. Refreshes stale entries in the background, unless `asIs`. */
  tools(
    userId: string,
    toolkits: readonly StoredToolkit[],
    options?: { asIs?: boolean | undefined },
  ): Promise<ReadonlyMap<string, readonly CatalogTool[]>>
  /** Queues a background refresh. Resolves to whether it succeeded and never rejects: the state has the failure. */
  refresh(stored: StoredToolkit, userId: string): Promise<boolean>
  /** Introspects now. Throws on failure and keeps the stored tools. */
  introspect(stored: StoredToolkit, userId: string, trace?: Context): Promise<ToolManifest[]>
  /** Introspects again after a list change, also if an introspection is running. */
  changed(stored: StoredToolkit, userId: string): Promise<void>
  /** Whether the stored tools are stale or the last introspection failed. */
  isStale(stored: StoredToolkit): boolean
  /** Time of the last introspection for this user. */
  discoveredAt(stored: StoredToolkit, userId: string): Promise<Date | null>
  /** Tools of an ephemeral toolkit. */
  ephemeralTools(uscoId: string): readonly CatalogTool[] | undefined
  accept(stored: StoredToolkit, by: Acceptance): Promise<number>
  /** Whether this user has a personal catalog of an app server, which they accept themselves. */
  isPersonal(stored: StoredToolkit, userId: string): Promise<boolean>
  /** Waits for running introspections. */
  settled(): Promise<void>
}

export interface CatalogDeps {
  storage: Storage
  cache: ReadCache
  connector: Connector
  events: Emitter
  /** Configuration with the trusted servers. */
  app: { get(): Promise<AppConfig> }
  /** Whether the user has their own sign-in, which makes the tool list personal. @default never */
  isSignedIn?(stored: StoredToolkit, userId: string): Promise<boolean>
  /** @default 3_600_000 */
  ttlMs?: number
  /** Timeout in ms. @default 10_000, and for a command the limit of the connector */
  introspectMs?: number
}

const LIST_LIMIT = 100_000
const DEFAULT_TTL_MS = 3_600_000
const DEFAULT_INTROSPECT_MS = 10_000
const STDIO_LIST_MS = 60_000
const LEAST_TTL_MS = 10_000
/** Minimum time in ms between refreshes after a failure. */
const AFTER_FAILURE_MS = 60_000
const MAX_EPHEMERAL = 1000
/** Starting more processes at once takes longer in total. */
const REFRESHES_AT_ONCE = 8
/** Maximum number of tool events per change; listeners reload the catalog instead. */
const MAX_EVENTS = 500

export function createCatalog(parts: CatalogDeps): Catalog {
  return new StoredCatalog(parts)
}

class StoredCatalog implements Catalog {
  readonly #parts: CatalogDeps
  readonly #looking = new Map<string, Promise<ToolManifest[]>>()
  readonly #refreshes = new RefreshQueue(REFRESHES_AT_ONCE)
  /** Time to live in ms that the server reported. */
  readonly #hints = new LRUCache<string, number>({ max: 10_000 })
  /** Tools of ephemeral toolkits; never stored. */
  readonly #ephemeral = new LRUCache<string, readonly CatalogTool[]>({ max: MAX_EPHEMERAL })
  /** Tools with unaccepted ones blocked, cached per tools. */
  readonly #blockedCache = new WeakMap<readonly CatalogTool[], readonly CatalogTool[]>()

  readonly #personal: PersonalCatalogs

  constructor(parts: CatalogDeps) {
    this.#parts = parts
    this.#personal = createPersonalCatalogs(parts)
  }

  async tools(
    userId: string,
    toolkits: readonly StoredToolkit[],
    { asIs = false }: { asIs?: boolean | undefined } = {},
  ): Promise<ReadonlyMap<string, readonly CatalogTool[]>> {
    const { cache, app } = this.#parts
    const config = await app.get()
    const read = (owner: string) =>
      cache.read({ userId: owner, name: 'catalog' }, ['userServerTools', 'pins'], () => this.#load(owner))
    const personal = userId === APP_OWNER ? undefined : await this.#personal.list(userId)
    const result = new Map<string, readonly CatalogTool[]>()
    for (const one of toolkits) {
      const own = one.tier === 'app' ? personal?.get(one.uscoId) : undefined
      // App tools are cached once for all users.
      const cached = one.ephemeral
        ? this.#ephemeral.get(one.uscoId)
        : (own?.tools ?? (await read(one.userId)).get(one.uscoId))
      const tools = cached ?? declaredTools(one)
      // Inline toolkits are chosen by the call and cannot be accepted.
      result.set(one.uscoId, one.ephemeral || isTrusted(one, config) ? tools : this.#blockUnaccepted(tools))
      const wasSeen = cached !== undefined || one.row.introspectedAt !== null
      const isOld = !asIs && one.enabled && wasSeen && !one.ephemeral && this.#isOld(one, own)
      // The state reports failures; readers get the stored tools.
      if (isOld) void this.refresh(one, userId)
    }
    return result
  }

  async refresh(stored: StoredToolkit, userId: string): Promise<boolean> {
    const key = this.#keyOf(stored, (await this.#isOwn(stored, userId)) ? userId : stored.userId)
    const underWay = this.#looking.get(key)
    const queued = this.#refreshes.add(key, () => this.#unlessCancelled(stored, userId))
    // A running introspection replaces the queued refresh.
    if (underWay) this.#refreshes.replace(key, underWay)
    return queued
  }

  async introspect(stored: StoredToolkit, userId: string, trace?: Context): Promise<ToolManifest[]> {
    const isOwn = await this.#isOwn(stored, userId)
    const key = this.#keyOf(stored, isOwn ? userId : stored.userId)
    const underWay = this.#looking.get(key)
    if (underWay) return underWay
    const work = this.#look(stored, userId, { trace, isOwn }).finally(() => this.#looking.delete(key))
    this.#looking.set(key, work)
    this.#refreshes.replace(key, work)
    return work
  }

  /** A start that the user cancelled is not repeated in the background. */
  async #unlessCancelled(stored: StoredToolkit, userId: string): Promise<ToolManifest[]> {
    if (this.#parts.connector.stateOf(stored, userId)?.code === 'cancelled') throw new HostError('cancelled')
    return this.introspect(stored, userId)
  }

  /** App toolkits are introspected once for all users, personal catalogs once per user. */
  #keyOf({ uscoId, row }: StoredToolkit, owner: string): string {
    return JSON.stringify([uscoId, row.updatedAt.getTime(), owner])
  }

  async #isOwn(stored: StoredToolkit, userId: string): Promise<boolean> {
    if (stored.tier !== 'app' || stored.ephemeral || userId === APP_OWNER) return false
    return (await this.#parts.isSignedIn?.(stored, userId)) ?? false
  }

  /** A change during an introspection needs another one after it. */
  async changed(stored: StoredToolkit, userId: string): Promise<void> {
    const key = this.#keyOf(stored, (await this.#isOwn(stored, userId)) ? userId : stored.userId)
    await this.#looking.get(key)?.catch(() => {})
    await this.introspect(stored, userId)
  }

  ephemeralTools(uscoId: string): readonly CatalogTool[] | undefined {
    return this.#ephemeral.get(uscoId)
  }

  isStale(stored: StoredToolkit): boolean {
    return stored.row.introspectionStatus === 'error' || this.#isPast(stored)
  }

  /** Whether the entry is expired; failures expire sooner. */
  #isPast({ row, toolkit, uscoId }: StoredToolkit): boolean {
    if (row.introspectedAt === null) return toolkit.tools === undefined
    const ttlMs = this.#parts.ttlMs ?? DEFAULT_TTL_MS
    const validMs = row.introspectionStatus === 'error' ? AFTER_FAILURE_MS : (this.#hints.get(uscoId) ?? ttlMs)
    return Date.now() - row.introspectedAt.getTime() > Math.min(ttlMs, validMs)
  }

  async discoveredAt({ tier, uscoId, row }: StoredToolkit, userId: string): Promise<Date | null> {
    const own = tier === 'app' && userId !== APP_OWNER ? (await this.#personal.list(userId)).get(uscoId) : undefined
    return own?.introspectedAt ?? row.introspectedAt
  }

  #isOld(stored: StoredToolkit, own: PersonalCatalog | undefined): boolean {
    if (!own) return this.#isPast(stored)
    const isOther = own.recordAt.getTime() !== stored.row.updatedAt.getTime()
    const seen = { introspectedAt: own.introspectedAt, introspectionStatus: 'success' as const }
    return isOther || this.#isPast({ ...stored, row: { ...stored.row, ...seen } })
  }

  async isPersonal({ tier, uscoId }: StoredToolkit, userId: string): Promise<boolean> {
    return tier === 'app' && userId !== APP_OWNER && (await this.#personal.list(userId)).has(uscoId)
  }

  async accept(stored: StoredToolkit, by: Acceptance): Promise<number> {
    const isOwn = await this.isPersonal(stored, by.userId)
    const count = isOwn ? await this.#personal.accept(stored, by) : await acceptChanges(this.#parts.storage, stored, by)
    if (count === 0) return 0
    this.#emitChanged(stored)
    const { userId, tool } = by
    const { id: toolkit } = stored.toolkit
    const one = tool === undefined ? {} : { tool }
    this.#parts.events.emit({ type: 'pin-accepted', userId, toolkit, uscoId: stored.uscoId, ...one, count })
    return count
  }

  #blockUnaccepted(tools: readonly CatalogTool[]): readonly CatalogTool[] {
    if (!tools.some((tool) => tool.unaccepted)) return tools
    const cached = this.#blockedCache.get(tools)
    if (cached) return cached
    const withBlocked = tools.map((tool) => (tool.unaccepted ? { ...tool, blocked: true as const } : tool))
    this.#blockedCache.set(tools, withBlocked)
    return withBlocked
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#looking.values())
  }

  async #look(
    stored: StoredToolkit,
    userId: string,
    { trace, isOwn }: { trace: Context | undefined; isOwn: boolean },
  ): Promise<ToolManifest[]> {
    const { storage, app } = this.#parts
    const { server } = stored.toolkit
    try {
      const read = server.type === 'custom' ? await readCustom(server) : await this.#readServer(stored, userId, trace)
      if (stored.ephemeral) {
        this.#ephemeral.set(stored.uscoId, await toolsOf(stored, read))
        return read.manifests
      }
      const look = { ...read, trusted: isTrusted(stored, await app.get()) }
      const affected = isOwn ? { ...stored, userId } : stored
      const change = isOwn ? this.#personal.store(stored, userId, look) : storeCatalog(storage, stored, look)
      this.#emitToolChanges(affected, await change)
      this.#emitChanged(affected)
      return read.manifests
    } catch (thrown) {
      const error = HostError.from(thrown)
      // `cooling-down` means that the server was not contacted.
      if (error.code !== 'cooling-down' && !stored.ephemeral && !isOwn && !isOnlyTheirs(stored, userId, error))
        await storeFailure(storage, stored, failureText(originalMessage(error))).catch(() => {})
      throw error
    }
  }

  async #readServer(stored: StoredToolkit, userId: string, trace: Context | undefined): Promise<ReadManifests> {
    const { server, timeouts } = stored.toolkit
    const set = timeouts.introspectMs ?? this.#parts.introspectMs
    const isCommand = server.type === 'stdio'
    const timeoutMs = set ?? (isCommand ? STDIO_LIST_MS : DEFAULT_INTROSPECT_MS)
    const list = await this.#parts.connector.use(stored, userId, {
      repeatable: true,
      // A command may install itself first: the connector knows that limit.
      connectMs: isCommand ? set : timeoutMs,
      setting: 'timeouts.introspectMs',
      isFirstList: stored.row.introspectedAt === null,
      trace,
      work: (connection, signal) => connection.list('tools', { timeoutMs, totalMs: timeoutMs, signal }),
    })
    // A private list (`isPrivate`) is stored for its requester: the owner, the signed-in user, or the app.
    // 0 means "do not cache", which a catalog cannot do, so the default TTL applies.
    if (list.ttlMs !== undefined && list.ttlMs > 0) this.#hints.set(stored.uscoId, Math.max(list.ttlMs, LEAST_TTL_MS))
    const read = await readManifests(list.items)
    return { ...read, warnings: [...list.warnings, ...read.warnings] }
  }

  #load(userId: string): Promise<ReadonlyMap<string, CatalogTool[]>> {
    const access: Access = userId === APP_OWNER ? { caller: 'app-config', userId } : { userId }
    return this.#parts.storage.transaction(access, async (tx) => {
      const rows = await tx.list('userServerTools', { where: { userId }, limit: LIST_LIMIT })
      const pins = await tx.list('pins', { where: { userId }, limit: LIST_LIMIT })
      const pinOf = new Map(pins.map((pin) => [JSON.stringify([pin.uscoId, pin.name]), pin]))
      const tools = rows.map((row) => toTool(row, pinOf.get(JSON.stringify([row.uscoId, row.name]))))
      return Map.groupBy(tools, (tool) => tool.uscoId)
    })
  }

  #emitToolChanges({ userId, toolkit }: StoredToolkit, { came, went }: CatalogChange): void {
    const { events } = this.#parts
    const ref = (tool: string) => `${toolkit.id}.${tool}`
    for (const tool of came.slice(0, MAX_EVENTS)) events.emit({ type: 'tool-loaded', userId, ref: ref(tool) })
    for (const tool of went.slice(0, MAX_EVENTS)) events.emit({ type: 'tool-unloaded', userId, ref: ref(tool) })
  }

  #emitChanged({ userId, toolkit, uscoId }: StoredToolkit): void {
    this.#parts.events.emit({ type: 'catalog-changed', userId, toolkit: toolkit.id, uscoId })
  }
}

/** A missing sign-in of one user is not a failure of the app server. */
const isOnlyTheirs = ({ tier }: StoredToolkit, userId: string, { code }: HostError) =>
  tier === 'app' && userId !== APP_OWNER && code === 'sign-in-needed'
