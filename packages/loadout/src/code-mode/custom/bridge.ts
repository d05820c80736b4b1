/**
 * The door of a custom tool's code: `fetch`, and the tools that it declares, each through `calls/` like any other. Where a
 * person must answer first, the program is put away; with the answer it is run again to where it stood, and what it was
 * told before it is told again in the same order: nothing is done twice. That log is in this process alone, as the call is.
 */
import { HostError } from '../../errors.ts'
import type { Json } from '../../schema/json.ts'
import type { Bridge, BridgeCall, BridgeResult } from '../executor.ts'

/** What something came to. Never throws. */
export type RequestResult = { value: Json } | { error: { code: string; message: string; data?: Json | undefined } }

export interface HostRequest {
  outcome: Promise<RequestResult>
  /** Resolves when a person must answer first. */
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
  /** Resolves when it is over, or waits for a person. */
  settledOrPending: Promise<void>
  isPending: boolean
  result?: RequestResult
}

interface Reply {
  key: string
  turn: number
  answer: BridgeResult
}

/** So long nothing comes before a program that waits is put away. */
const QUIET_MS = 5

export class CustomBridge implements Bridge {
  readonly owner: string
  readonly depth: number
  readonly functions: Bridge['functions']
  readonly #perform: CustomBridgeOptions['perform']
  /** By the number of the call. */
  readonly #replies = new Map<number, Reply>()
  readonly #open = new Map<number, Open>()
  /** What is asked by a program that was put away meanwhile is not answered any more. */
  #pass = 0
  /** Of the pass: how many were told, and who waits for their turn. */
  #turn = 0
  #turns = new Map<number, () => void>()
  #last = 0

  constructor({ owner, depth, functions, perform }: CustomBridgeOptions) {
    this.owner = owner
    this.depth = depth
    this.functions = functions
    this.#perform = perform
  }

  /** Before the program is run, each time. */
  begin(): void {
    this.#pass++
    this.#turn = 0
    this.#turns = new Map()
  }

  /** Resolves when the next of those that wait for a person is over. */
  async answer(signal: AbortSignal | undefined): Promise<void> {
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const end = () => reject(new HostError('cancelled'))
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
    try {
      await Promise.race([...[...this.#open.values()].map(({ outcome }) => outcome), ended])
    } finally {
      signal?.removeEventListener('abort', end)
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
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
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

  /** The other branches go on as far as they can before the program is put away. */
  #isQuiet(): boolean {
    const isBusy = [...this.#open.values()].some(({ result, isPending }) => result === undefined && !isPending)
    return !isBusy && Date.now() - this.#last >= QUIET_MS
  }
}

const DRIFT = { code: 'run-drift', message: 'The code does what it did not do before the answer came.' }
