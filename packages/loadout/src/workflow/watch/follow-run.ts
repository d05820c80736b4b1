/**
 * Streams the node states of a run from any process: local events, and stored state for runs of other processes. It
 * starts with the current states, reports each change once and ends when the run finishes or pauses.
 */
import type { Emitter } from '../../events.ts'
import type { ProcessLease } from '../../processes/heartbeat.ts'
import { isSuspended, noRun } from '../../runs/run-rows.ts'
import type { RunRow } from '../../schema/records/run.ts'
import type { Storage } from '../../storage/storage.ts'
import { createRowChanges } from '../../storage/watch-row.ts'
import { sleep } from '../../util/abort.ts'
import { type NodeState, nodeStates } from './node-states.ts'

export interface FollowDeps {
  storage: Storage
  events: Pick<Emitter, 'on'>
  presence: Pick<ProcessLease, 'processId'>
}

export interface FollowOptions {
  signal?: AbortSignal | undefined
  /** States reported before following began, if complete from the start of the run. */
  before?: readonly NodeState[] | undefined
}

/** Max wait between two reads, in case a change event is lost. */
const WAIT_MS = 1000
/** Reads of the log take at most 1/PAUSE_SHARE of the time. */
const LEAST_PAUSE_MS = 50
const PAUSE_SHARE = 10
const MAX_STEPS = 100_000
/** A slow reader gets the rest from storage. */
const MAX_BEHIND = 10_000

const RANK: Readonly<Record<NodeState['status'], number>> = {
  queued: 0,
  running: 1,
  paused: 2,
  completed: 3,
  failed: 3,
  skipped: 3,
}

/** Listens from the moment of the call. */
export function followRun(
  deps: FollowDeps,
  run: { userId: string; runId: string },
  options: FollowOptions,
): AsyncGenerator<NodeState, void> {
  return new RunFollower(deps, run, options).states()
}

class RunFollower {
  readonly #storage: Storage
  readonly #run: { userId: string; runId: string }
  readonly #processId: string
  readonly #signal: AbortSignal | undefined
  readonly #hasHistory: boolean
  readonly #reported = new Map<string, NodeState>()
  readonly #queue: NodeState[]
  readonly #unsubscribe: () => void
  #wake = () => {}

  constructor(
    { storage, events, presence }: FollowDeps,
    run: { userId: string; runId: string },
    options: FollowOptions,
  ) {
    this.#storage = storage
    this.#run = run
    this.#processId = presence.processId
    this.#signal = options.signal
    this.#hasHistory = options.before !== undefined
    this.#queue = [...(options.before ?? [])]
    this.#unsubscribe = events.on('run-node', ({ type: _, userId, runId, ...state }) => {
      if (runId !== run.runId || userId !== run.userId) return
      if (this.#queue.length < MAX_BEHIND) this.#queue.push(state)
      this.#wake()
    })
  }

  async *states(): AsyncGenerator<NodeState, void> {
    const changes = createRowChanges(this.#storage, 'runs')
    const left = new AbortController()
    const signal = this.#signal ? AbortSignal.any([this.#signal, left.signal]) : left.signal
    try {
      for (let isFirst = true; !signal.aborted; isFirst = false) {
        // Subscribe before reading, so that no change is missed.
        const changed = changes.next(this.#run.runId, WAIT_MS, signal)
        const from = performance.now()
        const row = await this.#row()
        const isOver = isSuspended(row.status)
        yield* this.#drain()
        // Local events are more detailed than stored steps.
        const isHere = row.leaseOwner === this.#processId
        if (isOver || !isHere || (isFirst && !this.#hasHistory)) yield* this.#stored(row)
        if (isOver) return
        const pause = Math.max(LEAST_PAUSE_MS, PAUSE_SHARE * (performance.now() - from))
        yield* this.#until(Promise.all([changed, sleep(pause, { signal, keepAlive: true })]))
      }
    } finally {
      left.abort()
      this.#unsubscribe()
      changes.close()
    }
  }

  /** Yields local events until `over` settles. */
  async *#until(over: Promise<unknown>): AsyncGenerator<NodeState, void> {
    let isOver = false
    void over.finally(() => {
      isOver = true
      this.#wake()
    })
    while (!isOver) {
      if (this.#queue.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
      yield* this.#drain()
    }
  }

  *#drain(): Generator<NodeState, void> {
    for (let state = this.#queue.shift(); state; state = this.#queue.shift()) if (this.#isNew(state)) yield state
  }

  async *#stored(row: RunRow): AsyncGenerator<NodeState, void> {
    const { userId, runId } = this.#run
    const steps = await this.#storage.transaction({ userId }, (tx) =>
      tx.list('steps', { where: { userId, runId }, limit: MAX_STEPS }),
    )
    for (const state of await nodeStates(row, steps)) if (this.#isAhead(state) && this.#isNew(state)) yield state
  }

  async #row(): Promise<RunRow> {
    const row = await this.#storage.transaction({ userId: this.#run.userId }, (tx) => tx.get('runs', this.#run.runId))
    if (row?.kind !== 'workflow') throw noRun()
    return row
  }

  #isNew(state: NodeState): boolean {
    const before = this.#reported.get(state.node)
    if (before?.status === state.status && !isFurther(state, before)) return false
    this.#reported.set(state.node, state)
    return true
  }

  #isAhead(state: NodeState): boolean {
    const before = this.#reported.get(state.node)
    if (before === undefined || RANK[state.status] > RANK[before.status]) return true
    return state.status === 'running' && (before.status === 'paused' || isFurther(state, before))
  }
}

/** True if more map items finished. */
const isFurther = ({ done = 0 }: NodeState, before: NodeState) => done > (before.done ?? 0)
