/**
 * Host side of one program in one sandbox: forwards calls to the bridge, returns replies in order and always produces
 * one execution. Sandbox output is untrusted: it is counted and validated again, in slices that keep the event loop
 * free.
 */
import { HostError } from '../../errors.ts'
import type { Json } from '../../schema/json.ts'
import type {
  Bridge,
  BridgeResult,
  Execution,
  LogLine,
  Program,
  ProgramErrorCode,
  ProgramLimits,
  ProgramUsage,
} from '../executor.ts'
import { stackLine } from '../guest/run.ts'
import type { SandboxHandle } from './handle.ts'
import { readJson } from './json.ts'
import { hasMoreValues } from './json-values.ts'
import { tooManyBytes, tooManyValues } from './limits.ts'
import type { CallReply, Ended, FromSandbox, ProgramTurn, SandboxCall } from './protocol.ts'
import { createWatchdog, type Watchdog, type WatchdogDeps } from './watchdog.ts'

export interface SandboxSessionDeps {
  box: SandboxHandle
  program: Program
  bridge: Bridge
  limits: ProgramLimits
  signal?: AbortSignal | undefined
}

/** Result, and whether the sandbox can be reused once it is ready. */
export interface SessionOutcome {
  execution: Execution
  clean: boolean
}

type Result =
  | { status: 'completed'; value: Json }
  | { status: 'failed'; error: { code: ProgramErrorCode; message: string; line?: number; stack?: string } }
  | { status: 'paused' }

const SLICE_MS = 8
const LARGE = 16 * 1024
const MAX_TEXT = 8000
const CLEAN: readonly ProgramErrorCode[] = ['program-error', 'syntax-error', 'cancelled']

export class SandboxSession {
  readonly outcome: Promise<SessionOutcome>
  readonly #deps: SandboxSessionDeps
  #resolve: (outcome: SessionOutcome) => void = () => {}
  readonly #watchdog: Watchdog
  readonly #started = performance.now()
  readonly #logs: LogLine[] = []
  readonly #usage: ProgramUsage = { calls: 0, cpuMs: 0, wallMs: 0 }
  readonly #inbox: SandboxCall[] = []
  readonly #callSeqs = new Set<number>()
  #outbox: CallReply[] = []
  #sent = 0
  #logBytes = 0
  #over = false
  #working = false

  constructor(deps: SandboxSessionDeps) {
    this.#deps = deps
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve
    })
    const onTimeout: WatchdogDeps['onTimeout'] = ({ code, message }, cpuMs) => {
      this.#usage.cpuMs = cpuMs ?? this.#usage.cpuMs
      this.#fail(code, message)
    }
    this.#watchdog = createWatchdog({ box: deps.box, limits: deps.limits, onTimeout })
    this.#begin()
  }

  #begin() {
    const { box, program, bridge, limits, signal } = this.#deps
    box.listen({ message: (message) => this.#receive(message), lost: (why) => this.#fail('sandbox-lost', why) })
    if (signal?.aborted) return this.cancel()
    signal?.addEventListener('abort', this.cancel)
    const input = written(program.input)
    if (input === undefined) return this.#fail('program-error', 'The input cannot be written as JSON.')
    const { source, seed } = program
    const now = Number.isFinite(program.now) ? program.now : 0
    this.#sent++
    box.send({ type: 'run', run: { source, input, seed, now, functions: bridge.functions, limits } })
  }

  cancel = () => this.#fail('cancelled', 'The program was cancelled.')

  #receive(message: FromSandbox): void {
    if (this.#over || message.type === 'ready') return
    this.#note(message.turn)
    const result = message.type === 'ended' ? resultOf(message.ended) : undefined
    // A program that broke a limit makes no more calls; a completed one may still have calls that it did not await.
    if (!result || isClean(result)) for (const call of message.turn.calls) this.#inbox.push(call)
    this.#workOff()
    if (result) this.#finish(result)
  }

  #note(turn: ProgramTurn): void {
    const { limits } = this.#deps
    this.#usage.calls += turn.calls.length
    this.#usage.cpuMs = turn.cpuMs
    this.#usage.memoryBytes = turn.memoryBytes
    if (turn.read === this.#sent) this.#watchdog.idle()
    for (const line of turn.logs) {
      this.#logBytes += line.text.length + 1
      if (this.#logBytes <= limits.logBytes) this.#logs.push(line)
    }
    if (this.#usage.calls > limits.calls) this.#fail('call-limit', `The program made more than ${limits.calls} calls.`)
  }

  /** Passes calls to the bridge and yields to the event loop between slices. */
  #workOff(): void {
    if (this.#working) return
    const until = performance.now() + SLICE_MS
    for (let call = this.#inbox.shift(); call; call = this.#inbox.shift()) {
      this.#ask(call)
      // Large calls cause work later, which must not pile up with the next call.
      const isLarge = call.arguments.length > LARGE
      if ((performance.now() < until && !isLarge) || this.#inbox.length === 0) continue
      this.#working = true
      setTimeout(() => {
        this.#working = false
        this.#workOff()
      }, 0)
      return
    }
  }

  #ask({ seq, object, name, arguments: text }: SandboxCall) {
    // A sandbox that repeats a sequence number is compromised.
    if (this.#callSeqs.has(seq) || !has(this.#deps.bridge, object, name))
      return this.#fail('sandbox-lost', 'The sandbox asked for something that it does not have.')
    this.#callSeqs.add(seq)
    // Check sizes before parsing.
    const { limits } = this.#deps
    if (text.length > limits.argumentBytes) return this.#fail('argument-limit', tooManyBytes(limits))
    if (hasMoreValues(text, limits.argumentValues)) return this.#fail('argument-limit', tooManyValues(limits))
    const args = readArguments(text)
    if ('refused' in args) return this.#answer(seq, { error: args.refused, at: this.#deps.program.now })
    const broke = () =>
      this.#answer(seq, { error: { code: 'internal', message: 'The call broke.' }, at: this.#deps.program.now })
    try {
      // Attach handlers directly: an extra promise would change the order of replies.
      this.#deps.bridge
        .call({ seq, object, name, arguments: args.values })
        .then((result) => this.#answer(seq, result), broke)
    } catch {
      broke()
    }
  }

  #answer(seq: number, answer: BridgeResult) {
    if (this.#over) return
    if ('pause' in answer) return this.#finish({ status: 'paused' })
    const ok = 'value' in answer
    const text = written(ok ? answer.value : answer.error)
    const { program, limits } = this.#deps
    if (text !== undefined && text.length > limits.memoryBytes)
      return this.#fail('memory-limit', `An answer takes more than ${limits.memoryBytes} bytes.`)
    const at = Number.isFinite(answer.at) ? answer.at : program.now
    this.#outbox.push(
      text === undefined
        ? { seq, ok: false, text: '{"code":"internal","message":"The answer is no JSON."}', at }
        : { seq, ok, text, at },
    )
    // Replies of one microtask are sent together.
    if (this.#outbox.length === 1) queueMicrotask(() => this.#flush())
  }

  #flush(): void {
    const answers = this.#outbox
    this.#outbox = []
    if (this.#over || answers.length === 0) return
    this.#sent++
    this.#watchdog.busy()
    this.#deps.box.send({ type: 'answers', answers })
  }

  #fail(code: ProgramErrorCode, message: string): void {
    this.#finish({ status: 'failed', error: { code, message } })
  }

  #finish(result: Result): void {
    if (this.#over) return
    this.#over = true
    if (!isClean(result)) this.#inbox.length = 0
    this.#watchdog.stop()
    this.#deps.signal?.removeEventListener('abort', this.cancel)
    this.#usage.wallMs = performance.now() - this.#started
    const execution = { ...result, logs: this.#logs, usage: this.#usage }
    this.#resolve({ execution, clean: isClean(result) })
  }
}

const isClean = (result: Result) => result.status !== 'failed' || CLEAN.includes(result.error.code)

const has = ({ functions }: Bridge, object: string, name: string) =>
  Object.hasOwn(functions, object) && (functions[object]?.includes(name) ?? false)

function resultOf(ended: Ended): Result {
  if ('error' in ended) {
    const { code, message, stack } = ended.error
    return {
      status: 'failed',
      error: { code, message: message.slice(0, MAX_TEXT), line: stackLine(stack), stack: stack?.slice(0, MAX_TEXT) },
    }
  }
  try {
    return { status: 'completed', value: readJson(ended.value) }
  } catch (error) {
    const why = HostError.is(error) ? error.message : 'it is no JSON'
    const message = `The value that the program returned cannot be taken: ${why}`
    return { status: 'failed', error: { code: 'program-error', message } }
  }
}

function readArguments(text: string): { values: Json[] } | { refused: { code: string; message: string } } {
  try {
    const values = readJson(text)
    if (Array.isArray(values)) return { values }
  } catch (error) {
    if (HostError.is(error)) return { refused: { code: 'invalid-arguments', message: error.message } }
  }
  return { refused: { code: 'invalid-arguments', message: 'The arguments are no JSON.' } }
}

function written(value: Json): string | undefined {
  try {
    return JSON.stringify(value ?? null) ?? 'null'
  } catch {
    return undefined
  }
}
