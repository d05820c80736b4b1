/**
 * Leases a connection for a stored toolkit: fills in secrets, caches the server's era, tracks the visible state, and
 * retries once on a new session where a repeat is safe.
 */

import type { Context } from '@opentelemetry/api'
import { LRUCache } from 'lru-cache'
import type { Emitter } from '../events.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { RememberedEra } from '../schema/toolkit/catalog.ts'
import type { RemoteServer } from '../schema/toolkit/server.ts'
import type { ToolkitState } from '../schema/toolkit/toolkit.ts'
import type { ConnectionCounts } from '../telemetry/counters.ts'
import { createTelemetry, type Telemetry } from '../telemetry/telemetry.ts'
import { secretValues } from '../toolkits/secrets/secret-values.ts'
import { fillSecrets } from '../toolkits/secrets/secrets.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type {
  Connection,
  ConnectionHooks,
  ConnectionTarget,
  ElicitationRequest,
  ElicitationResult,
  RequestAuth,
} from './connection.ts'
import {
  connectionOwner,
  isForToolkit,
  isRemote,
  parseStateKey,
  serverFingerprint,
  stateKey,
} from './connection-key.ts'
import type { Drivers } from './drivers.ts'
import { isBroken, isCancelled, mayRepeat } from './errors.ts'
import { type Opening, type OpenRequest, PendingHandshakes, type StartLimits } from './pool/pending-handshakes.ts'
import {
  createPool,
  type Lease,
  type PoolChange,
  type PoolKey,
  type PoolOptions,
  type PoolStatus,
} from './pool/pool.ts'
import { Startups } from './pool/startups.ts'
import { asCredentialsRefused, isRefused, redactForUser, redactSecrets, redactState } from './redact-errors.ts'
import { abortable, cancellableSleep, retryAfterMs } from './retry-after.ts'
import { Eras, explainEra, FELL_BACK, isBackChannelMissing } from './session/eras.ts'
import { LogRing, redactLogEntry, type ServerOutput, ServerOutputs } from './session/server-output.ts'
import { ObservedConnection, observeConnect } from './session/traced-connection.ts'
import { INPUT_NEEDED, SIGN_IN_NEEDED, stateFrom } from './state.ts'

export interface Connector {
  /** Runs `work` on a live connection. */
  use<T>(stored: StoredToolkit, userId: string, options: UseOptions & Work<T>): Promise<T>
  /** State of the user's connection; undefined before the first connect. */
  stateOf(stored: StoredToolkit, userId: string): ToolkitState | undefined
  /** Recent stderr output and log entries of the server. */
  outputOf(stored: StoredToolkit, userId: string): ServerOutput
  /**
   * Closes the toolkit's connections after their running calls. Without `keep` it also cancels starts and forgets
   * failures.
   */
  retire(uscoId: string, keep?: StoredToolkit): Promise<void>
  /** Closes connections and resets the circuit breaker, for one user or, without `userId`, for all. */
  reset(uscoId: string, userId?: string): Promise<void>
  /** Lists open connections with their toolkit IDs. */
  status(): Array<PoolStatus & { toolkit: string }>
  counts(): ConnectionCounts
  /** Cancels the user's start and ends its process. Returns whether a start was running. */
  cancel(stored: StoredToolkit, userId: string): Promise<boolean>
  close(): Promise<void>
}

const DEFAULT_CONNECT_MS = 15_000
const DEFAULT_STDIO_MS = 60_000
const DEFAULT_STDIO_MOST_MS = 300_000
const REMEMBERED = 10_000

export function createConnector(deps: ConnectorDeps): Connector {
  return new LiveConnector(deps)
}

class LiveConnector implements Connector {
  readonly #deps: ConnectorDeps
  readonly #telemetry: Telemetry
  readonly #pool: ReturnType<typeof createPool>
  readonly #handshakes = new PendingHandshakes()
  readonly #startups = new Startups((id) => this.#emitState(parseStateKey(id)))
  readonly #outputs = new ServerOutputs()
  readonly #eras = new Eras()
  readonly #states = new LRUCache<string, ToolkitState>({ max: REMEMBERED })
  readonly #names = new LRUCache<string, string>({ max: REMEMBERED })
  /** App toolkits. Users must not read their servers' output. */
  readonly #appToolkits = new LRUCache<string, true>({ max: REMEMBERED })
  /** Number of elicitation requests that wait for a user, by `stateKey`. */
  readonly #pendingQuestions = new Map<string, number>()
  /** Secrets of each connection, to redact them from errors. */
  readonly #secrets = new WeakMap<Connection, readonly string[]>()
  /** Session IDs for traces. */
  readonly #sessionIds = new WeakMap<Connection, string>()

  constructor(deps: ConnectorDeps) {
    this.#deps = deps
    this.#telemetry = deps.telemetry ?? createTelemetry()
    this.#pool = createPool({ ...deps.pool, onChange: (key, change) => this.#onChange(key, change) })
  }

  async use<T>(stored: StoredToolkit, userId: string, options: UseOptions & Work<T>): Promise<T> {
    try {
      return await (options.isFirstList ? this.#useFirst(stored, userId, options) : this.#use(stored, userId, options))
    } catch (error) {
      throw redactForUser(error, stored, userId)
    }
  }

  /** A start ends with its first list; until then `cancel` ends it and its process. */
  #useFirst<T>(stored: StoredToolkit, userId: string, options: UseOptions & Work<T>): Promise<T> {
    const key = { toolkit: stored.uscoId, userId: connectionOwner(stored, userId) }
    return this.#handshakes.track(key, (signal) =>
      this.#startups.whileListing(stateKey(key.toolkit, key.userId), () =>
        this.#use(stored, userId, { ...options, work: (connection) => options.work(connection, signal) }),
      ),
    )
  }

  async #use<T>(stored: StoredToolkit, userId: string, options: UseOptions & Work<T>): Promise<T> {
    const { work, repeatable, trace, isFirstList } = options
    const limits = this.#startLimits(stored, options)
    const deadline = Date.now() + limits.connectMs
    const firstLease = await abortable(this.#lease(stored, userId, { limits, trace }), options.signal)
    try {
      return await this.#attempt(firstLease, stored, { work, trace, userId, isFirstList })
    } catch (error) {
      const fellBack = isBackChannelMissing(error) && this.#eras.fallBack(stored, firstLease.connection.info)
      if (isBackChannelMissing(error) && !(fellBack && repeatable)) throw explainEra(error, fellBack)
      const waitMs = retryAfterMs(error, options)
      if (waitMs !== undefined) await cancellableSleep(waitMs, options.signal)
      else if (!fellBack && !mayRepeat(error, repeatable)) throw error
      const leftMs = Math.max(1000, deadline - Date.now())
      const retryLease = await this.#lease(stored, userId, { limits: { ...limits, connectMs: leftMs }, trace })
      return this.#attempt(retryLease, stored, { work, trace, userId, isFirstList })
    }
  }

  #startLimits({ toolkit }: StoredToolkit, { connectMs, setting }: UseOptions): StartLimits {
    const { stdioMs = DEFAULT_STDIO_MS, stdioMostMs = DEFAULT_STDIO_MOST_MS } = this.#deps.startup ?? {}
    if (connectMs !== undefined) return { connectMs, setting }
    if (toolkit.server.type !== 'stdio') return { connectMs: DEFAULT_CONNECT_MS, setting }
    return { connectMs: stdioMs, maxMs: Math.max(stdioMs, stdioMostMs), setting }
  }

  cancel(stored: StoredToolkit, userId: string): Promise<boolean> {
    return this.#handshakes.cancel({ toolkit: stored.uscoId, userId: connectionOwner(stored, userId) })
  }

  stateOf(stored: StoredToolkit, userId: string): ToolkitState | undefined {
    return this.#stateAt(stateKey(stored.uscoId, connectionOwner(stored, userId)))
  }

  outputOf(stored: StoredToolkit, userId: string): ServerOutput {
    return this.#outputs.read(stateKey(stored.uscoId, connectionOwner(stored, userId)))
  }

  retire(uscoId: string, keep?: StoredToolkit): Promise<void> {
    // A removed toolkit must not keep its failures.
    if (!keep) {
      this.#pool.resetBreaker(uscoId)
      this.#handshakes.cancelToolkit(uscoId)
      this.#outputs.forget((id) => isForToolkit(id, uscoId))
    }
    return this.#pool.retire(uscoId, (key) => keep !== undefined && key.fingerprint === serverFingerprint(keep))
  }

  async reset(uscoId: string, userId?: string): Promise<void> {
    this.#pool.resetBreaker(uscoId, userId)
    const id = stateKey(uscoId, userId ?? null)
    // The link in the stored state is used or outdated.
    if (this.#states.get(id)?.status === 'sign-in-needed') this.#states.set(id, SIGN_IN_NEEDED)
    await this.#pool.retire(uscoId, (key) => userId !== undefined && key.userId !== userId)
  }

  status() {
    return this.#pool
      .status()
      .map((entry) => ({ ...entry, toolkit: this.#names.get(entry.key.toolkit) ?? entry.key.toolkit }))
  }

  counts(): ConnectionCounts {
    return { ...this.#pool.counts(), processes: this.#deps.drivers.processes?.() ?? 0 }
  }

  async close(): Promise<void> {
    const closing = this.#handshakes.close()
    await this.#pool.close()
    await closing
    await this.#deps.drivers.close()
  }

  #lease(stored: StoredToolkit, userId: string, opening: Opening): Promise<Lease> {
    this.#names.set(stored.uscoId, stored.toolkit.id)
    if (stored.tier === 'app') this.#appToolkits.set(stored.uscoId, true)
    const key = {
      toolkit: stored.uscoId,
      fingerprint: serverFingerprint(stored),
      userId: connectionOwner(stored, userId),
    }
    const open = (onClosed: () => void) =>
      observeConnect(this.#telemetry, { toolkit: stored.toolkit.id, trace: opening.trace }, (meta) =>
        this.#handshakes.track({ toolkit: key.toolkit, userId: key.userId }, (signal) =>
          this.#open(stored, { userId, limits: opening.limits, meta, signal }, onClosed),
        ),
      )
    return this.#pool.lease(key, open, stored.toolkit.timeouts.idleMs)
  }

  async #open(
    stored: StoredToolkit,
    { userId, limits, meta, signal }: OpenRequest,
    onClosed: () => void,
  ): Promise<Connection> {
    const { toolkit, uscoId, tier } = stored
    const { drivers, secrets, ask, onToolsChanged, auth } = this.#deps
    const storedSecrets = stored.ephemeral?.secrets() ?? (await secrets({ userId: stored.userId, toolkit: uscoId }))
    const filled = fillSecrets(toolkit.server, storedSecrets)
    const log = new LogRing()
    const ownSecrets = secretValues(storedSecrets)
    const currentSecrets = () => [...ownSecrets, ...this.#tokens(stored, userId)]
    const id = stateKey(uscoId, connectionOwner(stored, userId))
    const hooks: ConnectionHooks = {
      onClosed,
      onLog(entry) {
        const redacted = redactLogEntry(entry, currentSecrets())
        log.add(redacted)
        // Log entries of an app server are for operators only.
        return tier === 'app' && !stored.ephemeral ? undefined : redacted
      },
      onListChanged: (kind) => kind === 'tools' && onToolsChanged(stored, userId),
      // A shared connection has no single user to ask.
      onElicitation: async (question, signal) =>
        connectionOwner(stored, userId) === null
          ? { action: 'decline' }
          : this.#trackQuestion({ uscoId, userId }, () =>
              ask({ userId, toolkit: toolkit.id, uscoId }, question, signal),
            ),
    }
    try {
      const transport = stored.ephemeral?.transport?.()
      const target: ConnectionTarget = {
        server: filled,
        ...limits,
        ...this.#eras.resolve(stored),
        logLevel: toolkit.logLevel,
        secrets: ownSecrets,
        transport,
        meta,
        signal,
        onProgress: (progress) => this.#startups.update(id, progress, currentSecrets()),
        auth: isRemote(filled) ? auth?.(stored, userId, filled) : undefined,
      }
      const connection = await drivers.open(target, hooks, tier)
      this.#eras.connected(stored, connection)
      await this.#saveEra(stored)
      if (this.#eras.isLegacy(stored)) log.add({ at: new Date(), ...FELL_BACK })
      this.#secrets.set(connection, ownSecrets)
      this.#outputs.begin(id, { connection, secrets: currentSecrets, log })
      return connection
    } catch (error) {
      // The remembered era may be wrong.
      this.#eras.failed(stored, error)
      await this.#saveEra(stored)
      throw redactSecrets(asCredentialsRefused(error, stored), currentSecrets())
    }
  }

  /** A connection is worth more than what is remembered of it. */
  async #saveEra(stored: StoredToolkit): Promise<void> {
    const era = this.#eras.unsaved(stored)
    if (era !== undefined) await this.#deps.saveEra?.(stored, era).catch(() => {})
  }

  async #attempt<T>(
    lease: Lease,
    stored: StoredToolkit,
    options: Work<T> & { trace: Context | undefined; userId: string; isFirstList?: boolean | undefined },
  ): Promise<T> {
    try {
      const result = await options.work(this.#observed(lease.connection, stored, options.trace))
      lease.release()
      return result
    } catch (thrown) {
      const error = asCredentialsRefused(thrown, stored)
      if (isBroken(error) || !lease.connection.isOpen()) {
        this.#eras.forget(stored)
        lease.discard()
      } else if (isBackChannelMissing(error)) lease.discard()
      else if (isRefused(error) || (options.isFirstList && isCancelled(error))) lease.discard(error)
      else lease.release()
      const ownSecrets = this.#secrets.get(lease.connection) ?? []
      throw redactSecrets(error, [...ownSecrets, ...this.#tokens(stored, options.userId)])
    }
  }

  #tokens(stored: StoredToolkit, userId: string): readonly string[] {
    return this.#deps.tokens?.(stored, userId) ?? []
  }

  #observed(connection: Connection, { toolkit }: StoredToolkit, trace: Context | undefined): Connection {
    const telemetry = this.#telemetry
    if (telemetry.counters === undefined && !telemetry.isTracing()) return connection
    const { id, server } = toolkit
    return new ObservedConnection(connection, { telemetry, trace, toolkit: id, server, sessionIds: this.#sessionIds })
  }

  /** Reports `input-needed` while `ask` waits for the user. */
  async #trackQuestion<T>(owner: { uscoId: string; userId: string }, ask: () => Promise<T>): Promise<T> {
    const id = stateKey(owner.uscoId, owner.userId)
    const count = (by: 1 | -1) => {
      const pending = (this.#pendingQuestions.get(id) ?? 0) + by
      if (pending > 0) this.#pendingQuestions.set(id, pending)
      else this.#pendingQuestions.delete(id)
      if (pending === 0 || (pending === 1 && by === 1)) this.#emitState(owner)
    }
    count(1)
    return ask().finally(() => count(-1))
  }

  #onChange(key: PoolKey, change: PoolChange): void {
    const id = stateKey(key.toolkit, key.userId)
    if (change.status !== 'connected') this.#outputs.end(id)
    if (change.status !== 'connected' && change.status !== 'connecting') this.#startups.closed(id)
    if (change.status !== 'connecting') this.#startups.finish(id)
    this.#states.set(id, stateFrom(change))
    this.#emitState({ uscoId: key.toolkit, userId: key.userId })
  }

  #stateAt(id: string): ToolkitState | undefined {
    const state = this.#states.get(id)
    if (state?.status === 'connecting') return { ...state, ...this.#startups.get(id) }
    if (state?.status !== 'connected') return state
    if (this.#pendingQuestions.has(id)) return INPUT_NEEDED
    return this.#startups.isListing(id) ? { status: 'connecting', phase: 'listing' } : state
  }

  #emitState({ uscoId, userId }: { uscoId: string; userId: string | null }): void {
    const toolkit = this.#names.get(uscoId)
    const state = this.#stateAt(stateKey(uscoId, userId))
    if (toolkit === undefined || state === undefined) return
    const visible = this.#appToolkits.has(uscoId) ? redactState(state) : state
    this.#deps.events.emit({ type: 'state-changed', userId: userId ?? APP_OWNER, toolkit, uscoId, state: visible })
  }
}

export interface ConnectorDeps {
  drivers: Drivers
  /** Reads the owner's secrets of a toolkit. */
  secrets(owner: { userId: string; toolkit: string }): Promise<Record<string, string>>
  events: Emitter
  /** Creates request auth if the server may require a sign-in. `server` has its secrets filled in. */
  auth?(stored: StoredToolkit, userId: string, server: RemoteServer): RequestAuth | undefined
  /** Tokens to redact from server output; they change without the record. */
  tokens?(stored: StoredToolkit, userId: string): readonly string[]
  /** Asks the user of the connection. */
  ask(
    recipient: { userId: string; toolkit: string; uscoId: string },
    question: ElicitationRequest,
    signal: AbortSignal,
  ): Promise<ElicitationResult>
  /** Called when the server reports changed tools. */
  onToolsChanged(stored: StoredToolkit, userId: string): void
  /** Stores the older era that a server is spoken to in, or that there is none. @default kept in this process */
  saveEra?(stored: StoredToolkit, era: RememberedEra | null): Promise<void>
  /** @default the telemetry that the app registered, if any */
  telemetry?: Telemetry
  pool?: Omit<PoolOptions, 'onChange'>
  startup?: StartupOptions | undefined
}

/** Start timeouts for servers whose record sets none. */
export interface StartupOptions {
  /** Milliseconds until a command must answer. @default 60_000 */
  stdioMs?: number | undefined
  /** Milliseconds until a command that still prints must answer. @default 300_000 */
  stdioMostMs?: number | undefined
}

/** `signal` is set during a start and aborts when the start is cancelled. */
export interface Work<T> {
  work: (connection: Connection, signal?: AbortSignal) => Promise<T>
}

export interface UseOptions {
  /** Handshake timeout in milliseconds. @default the host's timeout for this kind of server */
  connectMs?: number | undefined
  /** Name of the setting that a handshake timeout reports. @default 'timeouts.connectMs' */
  setting?: string | undefined
  /** Whether the work is the server's first list. The server counts as starting until it ends. */
  isFirstList?: boolean | undefined
  /** Whether the work may run again on a new session if the first one is lost. */
  repeatable: boolean
  /** Longest `Retry-After` (429) to wait for before one retry, in milliseconds. @default 0 */
  maxRetryAfterMs?: number | undefined
  signal?: AbortSignal | undefined
  /** Trace context of the work. */
  trace?: Context | undefined
}
