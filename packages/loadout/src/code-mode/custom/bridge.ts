/**
 * Bridge of a custom tool's code: `fetch` and the declared tools, each through the call pipeline. When a call needs an
 * approval, the program is suspended and replayed after the answer with the same replies in the same order, so nothing
 * runs twice. The log lives in this process only, like the call.
 */
import { HostError } from '../../errors.ts'
import type { Json } from '../../schema/json.ts'
import { onAbort, sleep } from '../../util/abort.ts'
import type { Bridge, BridgeCall, BridgeResult } from '../executor.ts'

/** Result of a request; the promise never rejects. */
export type RequestResult = { value: Json } | { error: { code: string; message: string; data?: Json | undefined } }

export interface HostRequest {
  outcome: Promise<RequestResult>
  /** Resolves when the request needs an approval. */
  pending?: Promise<unknown> | undefined
}

export interface CustomBridgeOptions {
  owner: string
  depth: number
  functions: Bridge['functions']
  perform(call: BridgeCall): HostRequest
}

interface Open {
  key: string
  outcome: Promise<RequestResult>
  /** Resolves when the request finishes or needs an approval. */
  settledOrPending: Promise<void>
  isPending: boolean
  result?: RequestResult
}

interface Reply {
  key: string
  turn: number
  answer: BridgeResult
}

/** Idle time in ms before a waiting program is suspended. */
const QUIET_MS = 5

export class CustomBridge implements Bridge {
  readonly owner: string
  readonly depth: number
  readonly functions: Bridge['functions']
  readonly #perform: CustomBridgeOptions['perform']
  /** By sequence number of the call. */
  readonly #replies = new Map<number, Reply>()
  readonly #open = new Map<number, Open>()
  /** Number of the current replay; requests of an earlier one get no reply. */
  #pass = 0
  /** Number of replies delivered in this replay, and the requests that wait for their turn. */
  #turn = 0
  #turns = new Map<number, () => void>()
  #last = 0

  constructor({ owner, depth, functions, perform }: CustomBridgeOptions) {
    this.owner = owner
    this.depth = depth
    this.functions = functions
    this.#perform = perform
  }

  /** Called before each replay. */
  begin(): void {
    this.#pass++
    this.#turn = 0
    this.#turns = new Map()
  }

  /** Resolves when the next pending request finishes. */
  async answer(signal: AbortSignal | undefined): Promise<void> {
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const end = () => reject(new HostError('cancelled'))
    const stopListening = onAbort(signal, end)
    try {
      await Promise.race([...[...this.#open.values()].map(({ outcome }) => outcome), ended])
    } finally {
      stopListening()
      ended.catch(() => {})
    }
  }

  async call(call: BridgeCall): Promise<BridgeResult> {
    const { seq } = call
    const key = JSON.stringify([call.object, call.name, call.arguments])
    const pass = this.#pass
    this.#last = Date.now()
    const reply = this.#replies.get(seq)
    const open = reply ? undefined : (this.#open.get(seq) ?? this.#start(call, key))
    if ((reply ?? open)?.key !== key) return { error: DRIFT, at: Date.now() }
    if (reply) {
      await this.#myTurn(reply.turn)
      return this.#deliver(seq, reply)
    }
    return this.#wait(seq, open as Open, pass)
  }

  async #wait(seq: number, open: Open, pass: number): Promise<BridgeResult> {
    await open.settledOrPending
    while (open.result === undefined && pass === this.#pass && !this.#isQuiet())
      await sleep(QUIET_MS, { keepAlive: true })
    if (pass !== this.#pass) return { pause: true }
    if (open.result === undefined) {
      this.#pass++
      return { pause: true }
    }
    this.#open.delete(seq)
    return this.#deliver(seq, { key: open.key, turn: this.#turn, answer: { ...open.result, at: Date.now() } })
  }

  #start(call: BridgeCall, key: string): Open {
    const { outcome, pending } = this.#perform(call)
    const open: Open = { key, outcome, isPending: false, settledOrPending: Promise.resolve() }
    const over = outcome.then((result) => {
      open.result = result
    })
    const waits = pending?.then(() => {
      open.isPending = true
    })
    open.settledOrPending = waits ? Promise.race([over, waits]) : over
    this.#open.set(call.seq, open)
    return open
  }

  #deliver(seq: number, reply: Reply): BridgeResult {
    this.#replies.set(seq, reply)
    this.#turn++
    this.#last = Date.now()
    this.#turns.get(this.#turn)?.()
    return reply.answer
  }

  async #myTurn(turn: number): Promise<void> {
    if (this.#turn === turn) return
    const turns = this.#turns
    await new Promise<void>((resolve) => turns.set(turn, resolve))
  }

  /** True if no other branch can continue, so that the program can be suspended. */
  #isQuiet(): boolean {
    const isBusy = [...this.#open.values()].some(({ result, isPending }) => result === undefined && !isPending)
    return !isBusy && Date.now() - this.#last >= QUIET_MS
  }
}

const DRIFT = { code: 'run-drift', message: 'The code does what it did not do before the answer came.' }
