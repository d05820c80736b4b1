/**
 * Which tools each toolkit offers: served from what is stored, whether or not a server is up. What is older than its time
 * to live is served as it is and looked at again behind; many readers cause one look.
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
  /** The tools of each of a user's toolkits, by `usco_…`. Starts a look behind where something is stale, unless `asIs`. */
  tools(
    userId: string,
    toolkits: readonly StoredToolkit[],
    options?: { asIs?: boolean | undefined },
  ): Promise<ReadonlyMap<string, readonly CatalogTool[]>>
  /**
   * Looks in the background when it is its turn, with few others at once. Resolves to whether it succeeded and never rejects: the
   * state has the failure.
   */
  refresh(stored: StoredToolkit, userId: string): Promise<boolean>
  /** Looks now. Throws what went wrong; the stored tools stay. */
  introspect(stored: StoredToolkit, userId: string, trace?: Context): Promise<ToolManifest[]>
  /** The server says that its list changed: looks anew, also where a look is under way. */
  changed(stored: StoredToolkit, userId: string): Promise<void>
  /** Whether what is kept of it is past its time, or the last look failed. */
  isStale(stored: StoredToolkit): boolean
  /** When what this user has of it was last looked for. */
  discoveredAt(stored: StoredToolkit, userId: string): Promise<Date | null>
  /** What is known of a toolkit that is carried and not stored. */
  ephemeralTools(uscoId: string): readonly CatalogTool[] | undefined
  accept(stored: StoredToolkit, by: Acceptance): Promise<number>
  /** Whether what an app's server offers is known for this user alone: then it is theirs to accept. */
  isPersonal(stored: StoredToolkit, userId: string): Promise<boolean>
  /** Waits for looks that are under way. */
  settled(): Promise<void>
}

export interface CatalogDeps {
  storage: Storage
  cache: ReadCache
  connector: Connector
  events: Emitter
  /** Says which servers are trusted. */
  app: { get(): Promise<AppConfig> }
  /** Whether a user asks a server with a sign-in of their own: then the list is theirs alone. @default never */
  isSignedIn?(stored: StoredToolkit, userId: string): Promise<boolean>
  /** @default 3_600_000 */
  ttlMs?: number
  /** How long a server may take to answer. @default 10_000, and for a command what the connector allows */
  introspectMs?: number
}

const LIST_LIMIT = 100_000
const DEFAULT_TTL_MS = 3_600_000
const DEFAULT_INTROSPECT_MS = 10_000
const STDIO_LIST_MS = 60_000
const LEAST_TTL_MS = 10_000
/** A server that was away may be back: who reads looks again, not more often than this. */
const AFTER_FAILURE_MS = 60_000
const MAX_EPHEMERAL = 1000
/** More processes that start at once on one machine take longer in all. */
const REFRESHES_AT_ONCE = 8
/** More at once would drown who listens; they look anew instead. */
const MAX_EVENTS = 500

export function createCatalog(parts: CatalogDeps): Catalog {
  return new StoredCatalog(parts)
}

class StoredCatalog implements Catalog {
  readonly #parts: CatalogDeps
  readonly #looking = new Map<string, Promise<ToolManifest[]>>()
  readonly #refreshes = new RefreshQueue(REFRESHES_AT_ONCE)
  /** How long a server says that its list holds. */
  readonly #hints = new LRUCache<string, number>({ max: 10_000 })
  /** The tools of toolkits that are carried and not stored. Nothing of them is written anywhere. */
  readonly #ephemeral = new LRUCache<string, readonly CatalogTool[]>({ max: MAX_EPHEMERAL })
  /** The same tools, with those held that nobody accepted; kept as long as they are. */
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
      // What is the app's is kept once, however many users there are.
      const cached = one.ephemeral
        ? this.#ephemeral.get(one.uscoId)
        : (own?.tools ?? (await read(one.userId)).get(one.uscoId))
      const tools = cached ?? declaredTools(one)
      // What a call brings is chosen with the call, and nothing of it is kept that could be accepted.
      result.set(one.uscoId, one.ephemeral || isTrusted(one, config) ? tools : this.#blockUnaccepted(tools))
      const wasSeen = cached !== undefined || one.row.introspectedAt !== null
      const isOld = !asIs && one.enabled && wasSeen && !one.ephemeral && this.#isOld(one, own)
      // Failures are told by the state; a reader gets what there is.
      if (isOld) void this.refresh(one, userId)
    }
    return result
  }

  async refresh(stored: StoredToolkit, userId: string): Promise<boolean> {
    const key = this.#keyOf(stored, (await this.#isOwn(stored, userId)) ? userId : stored.userId)
    const underWay = this.#looking.get(key)
    const queued = this.#refreshes.add(key, () => this.#unlessCancelled(stored, userId))
    // A look that is under way needs no second one after it.
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

  /** A start that a person cancelled is not begun again in the background. */
  async #unlessCancelled(stored: StoredToolkit, userId: string): Promise<ToolManifest[]> {
    if (this.#parts.connector.stateOf(stored, userId)?.code === 'cancelled') throw new HostError('cancelled')
    return this.introspect(stored, userId)
  }

  /** What belongs to the app is looked at once for all, by whoever comes first; what is a user's own, for that user. */
  #keyOf({ uscoId, row }: StoredToolkit, owner: string): string {
    return JSON.stringify([uscoId, row.updatedAt.getTime(), owner])
  }

  async #isOwn(stored: StoredToolkit, userId: string): Promise<boolean> {
    if (stored.tier !== 'app' || stored.ephemeral || userId === APP_OWNER) return false
    return (await this.#parts.isSignedIn?.(stored, userId)) ?? false
  }

  /** A change that was told while a look was under way is looked at once more after it. */
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

  /** Whether it is time for another look: sooner after one that failed. */
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
      // That it was not even tried says nothing new of the server.
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
      // A command may have to install itself first: the connector knows how long that may take.
      connectMs: isCommand ? set : timeoutMs,
      setting: 'timeouts.introspectMs',
      isFirstList: stored.row.introspectedAt === null,
      trace,
      work: (connection, signal) => connection.list('tools', { timeoutMs, totalMs: timeoutMs, signal }),
    })
    // A private list (`isPrivate`) is kept for who asked: its owner, the user who signed in, or the app by its own credentials.
    // Zero means "do not keep", which a catalog cannot do; then our own time holds.
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

/** That one user has yet to sign in says nothing of the app's server. */
const isOnlyTheirs = ({ tier }: StoredToolkit, userId: string, { code }: HostError) =>
  tier === 'app' && userId !== APP_OWNER && code === 'sign-in-needed'
