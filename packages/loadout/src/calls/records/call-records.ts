/**
 * Records of calls that can be queried later, or repeated with an idempotency key, in any process: one row per call. A
 * row names the process that makes the call; if that process is dead, `orphaned-calls.ts` settles the row.
 *
 * - A key belongs to its call once a server may have received the call; otherwise it stays free.
 * - A `pending` call was not made: it continues only after its row is `running`.
 * - A call with a waiting client is recorded in the background, when it ends or takes long, so that it is not delayed.
 */
import { type ErrorCode, HostError } from '../../errors.ts'
import type { ProcessLease } from '../../processes/heartbeat.ts'
import type { CallRow } from '../../schema/records/call.ts'
import type { Storage } from '../../storage/storage.ts'
import { createRowChanges } from '../../storage/watch-row.ts'
import { sleep } from '../../util/abort.ts'
import type { CallOutcome } from '../call.ts'
import type { CallRequest, Calls, FollowedCall, RunningCall, RunningCalls } from '../calls.ts'
import type { Results } from '../results/results.ts'
import { newCallRow, reserveKey, withIdempotencyKey } from './idempotency.ts'
import { settleOrphaned } from './orphaned-calls.ts'
import { missingResult, outcomeFromJson, outcomeToJson, storableOutcome } from './outcome-json.ts'
import { createWriteBehind } from './write-behind.ts'

export interface RecordOptions {
  /** Calls with the same key are made once. */
  idempotencyKey?: string | undefined
}

/** A stored call, with its outcome once it has ended. */
export interface CallRecord extends CallRow {
  outcome?: CallOutcome
}

export type Recorded = { callId: string; running: RunningCall } | { callId: string; row: CallRecord }

export interface WaitOptions {
  /** Ends the wait and returns the current record. */
  signal?: AbortSignal | undefined
  /** Whether to wait also while the call needs approval. */
  untilOver?: boolean
}

export interface CallRecords {
  /** Starts a call and records it, or returns the record if the key was used before. */
  start(request: CallRequest, options?: RecordOptions): Promise<Recorded>
  /**
   * Starts a call with a waiting client, recorded in the background. `persist` records it when the client stops
   * waiting.
   */
  startWaited(request: CallRequest): { running: RunningCall; persist(): Promise<void> }
  /** A record of this user; otherwise `not-found`. */
  get(userId: string, callId: string): Promise<CallRecord>
  /** The record, once the call has ended or needs approval. */
  settled(userId: string, callId: string, options?: WaitOptions): Promise<CallRecord>
}

export interface RunningRecords extends CallRecords {
  /** Drops pending writes of a user who is being removed. */
  forget(userId: string): void
  /** Must be closed first: errors caused by the shutdown are not outcomes of calls. */
  close(): Promise<void>
}

export interface RecordDeps {
  storage: Storage
  calls: Pick<RunningCalls, 'start'>
  presence: ProcessLease
  results: Pick<Results, 'keep'>
}

const CLOSE_MS = 2000
const FIRST_WAIT_MS = 250
const LAST_WAIT_MS = 60_000
const POLL_MS = 1000
/** A waiting call gets a row after this time in ms. */
const LONG_MS = 1000
/** Errors after the recorded intent that guarantee that nothing was sent. */
const NOTHING_SENT: ReadonlySet<ErrorCode> = new Set([
  'sign-in-needed',
  'stdio-refused',
  'address-blocked',
  'spawn-failed',
  'cooling-down',
  'too-many-connections',
  'function-missing',
  'secret-missing',
  'audit-unavailable',
  'credentials-refused',
])

export function createCallRecords(deps: RecordDeps): RunningRecords {
  return new StoredRecords(deps)
}

class StoredRecords implements RunningRecords {
  readonly #deps: RecordDeps
  readonly #open = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  readonly #changes
  readonly #writeBehind

  constructor(deps: RecordDeps) {
    this.#deps = deps
    this.#changes = createRowChanges(deps.storage, 'calls')
    this.#writeBehind = createWriteBehind(deps.storage)
  }

  async start(request: CallRequest, { idempotencyKey }: RecordOptions = {}): Promise<Recorded> {
    const { storage, calls, presence } = this.#deps
    const row = await withIdempotencyKey(newCallRow(request, presence), idempotencyKey, request)
    return this.#withLease(async (release) => {
      const before = await reserveKey(storage, row)
      if (before) {
        release()
        return { callId: before.callId, row: recordOf(before) }
      }
      const running = calls.start({ ...request, callId: row.callId })
      this.#follow(row, running, release)
      return { callId: row.callId, running }
    })
  }

  startWaited(request: CallRequest) {
    const running = this.#deps.calls.start(request)
    let persisting: Promise<void> | undefined
    const persist = () => {
      persisting ??= this.#adopt(request, running)
      return persisting
    }
    const persistQuietly = () => void persist().catch(() => {})
    const timer = setTimeout(persistQuietly, LONG_MS)
    if (typeof timer === 'object' && 'unref' in timer) timer.unref()
    running.follow({ onPending: persistQuietly, onAllowed: async () => {} })
    void running.outcome.then((outcome) => {
      clearTimeout(timer)
      if (!persisting) void this.#storeDone(request, running, outcome).catch(() => {})
    })
    return { running, persist }
  }

  async get(userId: string, callId: string): Promise<CallRecord> {
    const { storage, presence } = this.#deps
    const row = await storage.transaction({ userId }, async (tx) => {
      const found = await tx.get('calls', callId)
      if (!found) throw new HostError('not-found', { detail: 'There is no such call of yours.' })
      return settleOrphaned(tx, found, presence.processId)
    })
    return recordOf(row)
  }

  async settled(userId: string, callId: string, { signal, untilOver }: WaitOptions = {}): Promise<CallRecord> {
    for (;;) {
      const stop = new AbortController()
      // Subscribe before reading, so that no change is missed.
      const changed = this.#changes.next(callId, POLL_MS, signal ? AbortSignal.any([signal, stop.signal]) : stop.signal)
      try {
        const row = await this.get(userId, callId)
        const isWaiting = row.status === 'running' || (untilOver && row.status === 'pending')
        if (!isWaiting || signal?.aborted || this.#closing.signal.aborted) return row
        await changed
      } finally {
        stop.abort()
      }
    }
  }

  forget(userId: string): void {
    this.#writeBehind.forget(userId)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#changes.close()
    const stop = Promise.withResolvers<void>()
    const timer = setTimeout(stop.resolve, CLOSE_MS)
    await Promise.race([Promise.allSettled([...this.#open, this.#writeBehind.flush()]), stop.promise])
    clearTimeout(timer)
  }

  async #withLease<T>(work: (release: () => void) => Promise<T>): Promise<T> {
    const release = await this.#deps.presence.acquire()
    try {
      return await work(release)
    } catch (error) {
      release()
      throw error
    }
  }

  #adopt(request: CallRequest, running: FollowedCall): Promise<void> {
    const { storage, presence } = this.#deps
    const { processId } = presence
    const row = newCallRow(request, { processId, callId: running.callId })
    return this.#withLease(async (release) => {
      await storage.transaction({ userId: row.userId }, (tx) => tx.insert('calls', row))
      this.#follow(row, running, release)
    })
  }

  #follow(row: CallRow, running: FollowedCall, release: () => void): void {
    const { storage } = this.#deps
    let pendingNote: Promise<unknown> = Promise.resolve()
    running.follow({
      onPending: ({ id }) => {
        pendingNote = pendingNote.then(() => notePending(storage, row, id)).catch(() => {})
      },
      onAllowed: async () => {
        await pendingNote
        await noteGoingOn(storage, row)
      },
    })
    const noted = running.outcome
      .then((outcome) => this.#noteOutcome(row, running, outcome))
      .finally(() => {
        this.#open.delete(noted)
        release()
      })
    this.#open.add(noted)
  }

  /** Records a finished call. Memory storage is skipped: `calls.ts` caches outcomes anyway. */
  async #storeDone(request: CallRequest, running: FollowedCall, outcome: CallOutcome): Promise<void> {
    const { storage, presence, results } = this.#deps
    if (storage.name === 'memory' || running.isForgotten()) return
    const row = newCallRow(request, { processId: presence.processId, callId: running.callId })
    const outcomeJson = outcomeToJson(await storableOutcome(results, row, outcome))
    if (!running.isForgotten())
      this.#writeBehind.add({ ...row, status: outcome.status, outcomeJson, finishedAt: new Date() })
  }

  /** Writes the outcome and retries with backoff. */
  async #noteOutcome(row: CallRow, running: FollowedCall, outcome: CallOutcome): Promise<void> {
    const closing = this.#closing.signal
    // The approval expired because of the shutdown: readers must see that the call was never made.
    if (closing.aborted && 'error' in outcome && outcome.error.code === 'approval-expired') return
    const isFree = !running.wasReached() || ('error' in outcome && NOTHING_SENT.has(outcome.error.code))
    const key = isFree ? { dedupeKey: row.callId } : {}
    let isUnstorable = false
    for (let wait = FIRST_WAIT_MS; wait <= LAST_WAIT_MS && !running.isForgotten(); wait *= 2) {
      try {
        const { userId, callId } = row
        const stored = isUnstorable
          ? missingResult(outcome.status)
          : outcomeToJson(await storableOutcome(this.#deps.results, row, outcome))
        const set = { status: outcome.status, outcomeJson: stored, finishedAt: new Date(), ...key }
        await this.#deps.storage.transaction({ userId }, (tx) => tx.update('calls', callId, { set }))
        return
      } catch (error) {
        if (closing.aborted) return
        isUnstorable = HostError.is(error) && error.code === 'invalid-row'
        if (!isUnstorable) await sleep(wait, { keepAlive: true })
      }
    }
  }
}

const recordOf = (row: CallRow): CallRecord =>
  row.outcomeJson === null ? row : { ...row, outcome: outcomeFromJson(row.outcomeJson) }

function notePending(storage: Storage, { userId, callId }: CallRow, approvalId: string) {
  const change = { set: { status: 'pending' as const, approvalId }, where: { finishedAt: null } }
  return storage.transaction({ userId }, (tx) => tx.update('calls', callId, change))
}

/** Marks the row as running. A row that was ended meanwhile belongs to a cancelled call. */
async function noteGoingOn(storage: Storage, { userId, callId, ref }: CallRow): Promise<void> {
  const change = { set: { status: 'running' as const }, where: { finishedAt: null } }
  const row = await storage.transaction({ userId }, (tx) => tx.update('calls', callId, change))
  if (!row) throw new HostError('call-not-made', { detail: `'${ref}' was taken for given up while it waited.` })
}

/**
 * Cancels recorded calls in any process. A local call is aborted, down to its server. For a remote call the row is
 * ended; its process watches the row and aborts. An ended row stops a call that waits for approval. An outcome that
 * arrives later still overwrites the row.
 */
export interface CancellableRecords extends CallRecords {
  /** Cancels a call of this user and waits until it has ended, if it runs here. `conflict` if it is over. */
  cancel(userId: string, callId: string): Promise<void>
}

interface CancelDeps {
  storage: Storage
  records: CallRecords
  calls: Pick<Calls, 'running'>
}

interface Cancellable {
  userId: string
  end: AbortController
  outcome: Promise<CallOutcome>
}

export function createCancel(deps: CancelDeps): { records: CancellableRecords; close(): void } {
  const { storage, records, calls } = deps
  const cancellables = new Map<string, Cancellable>()
  let watching: Promise<() => void> | undefined

  /** Aborts a local call whose row another process ended. */
  const abortIfEnded = async (callId: string, { userId, end }: Cancellable) => {
    const row = await storage.transaction({ userId }, (tx) => tx.get('calls', callId))
    if (row?.finishedAt && cancellables.has(callId)) end.abort(cancelled())
  }
  const watch = () => {
    watching ??= storage.watch((change) => {
      const entry = change.kind === 'row' && change.collection === 'calls' ? cancellables.get(change.id) : undefined
      if (entry && change.kind === 'row') void abortIfEnded(change.id, entry).catch(() => {})
    })
    watching.catch(() => {
      watching = undefined
    })
  }
  const track = (userId: string, { callId, outcome }: RunningCall, end: AbortController) => {
    cancellables.set(callId, { userId, end, outcome })
    void outcome.then(() => cancellables.delete(callId))
  }

  return {
    records: {
      async start(request, options) {
        watch()
        const { end, cancellable } = withCancel(request)
        const recorded = await records.start(cancellable, options)
        if ('running' in recorded) track(request.userId, recorded.running, end)
        return recorded
      },
      startWaited: (request) => records.startWaited(request),
      get: (userId, callId) => records.get(userId, callId),
      settled: (userId, callId, options) => records.settled(userId, callId, options),
      async cancel(userId, callId) {
        const local = cancellables.get(callId)
        if (local?.userId === userId) {
          local.end.abort(cancelled())
          await local.outcome
          return
        }
        if (calls.running(userId, callId)) throw waitedFor()
        await endRow(storage, await records.get(userId, callId))
      },
    },
    close: () => void watching?.then((stop) => stop()).catch(() => {}),
  }
}

/** Adds an abort controller to the signal of a request. */
function withCancel(request: CallRequest): { end: AbortController; cancellable: CallRequest } {
  const end = new AbortController()
  const { signal } = request
  return { end, cancellable: { ...request, signal: signal ? AbortSignal.any([signal, end.signal]) : end.signal } }
}

async function endRow(
  storage: Storage,
  { userId, callId, finishedAt }: { userId: string; callId: string; finishedAt: Date | null },
) {
  const outcomeJson = outcomeToJson({ status: 'failed', error: cancelled() })
  const set = { status: 'failed' as const, outcomeJson, finishedAt: new Date() }
  const ended =
    finishedAt === null &&
    (await storage.transaction({ userId }, (tx) => tx.update('calls', callId, { set, where: { finishedAt: null } })))
  if (!ended) throw new HostError('conflict', { detail: 'The call is over.', action: 'Look at what came of it.' })
}

const cancelled = () => new HostError('cancelled', { detail: 'The call was cancelled.' })
const waitedFor = () =>
  new HostError('conflict', {
    detail: 'This call was made to be waited for.',
    action: 'Answer what it asks, or end the request, the chat or the run that made it.',
  })
