/**
 * Runs one program in one engine and enforces its limits, outside the program's reach. The end of a program is posted
 * at once; nothing waits for the engine to return.
 */

import type { LogLine, ProgramErrorCode, ProgramLimits } from '../executor.ts'
import { hasMoreValues } from '../sandbox/json-values.ts'
import { MAX_PENDING_ARGUMENTS_FACTOR, tooManyBytes, tooManyValues } from '../sandbox/limits.ts'
import {
  type CallReply,
  type Ended,
  type FromSandbox,
  PROGRAM_FILE,
  type ProgramTurn,
  type RunRequest,
  type SandboxCall,
} from '../sandbox/protocol.ts'
import { type CpuMeter, createMeter } from './cpu-meter.ts'
import type { EngineHooks, GuestEngine, HostCallArguments, Outcome } from './engine.ts'
import { NoMemory } from './memory.ts'
import { ENTRY_POINT, HOST_CALL } from './prelude.ts'

export interface GuestIo {
  post(message: FromSandbox): void
  /** CPU clock of this thread, in ms. */
  threadMs?: (() => number) | undefined
}

/** Flush thresholds of calls and logs during a turn, so that they survive a kill. */
const FLUSH = { ms: 50, bytes: 256 * 1024 }
/** Jobs between two clock checks, because short jobs never trigger the engine's interrupt. */
const JOBS = 64
const DEADLOCK = 'The program waits for something that never comes: no call and no timer is left that could wake it.'
const CLEAN: readonly ProgramErrorCode[] = ['program-error', 'syntax-error']

export class GuestRun implements EngineHooks {
  readonly #request: RunRequest
  readonly #io: GuestIo
  readonly #engine: GuestEngine
  readonly #counter: UsageCounter
  readonly #meter: CpuMeter
  readonly #deadline: number
  readonly #lines: number
  #now: number
  #ended: Ended | undefined
  #trapped = false
  #timers = false
  #read = 0
  #flushedAt = performance.now()

  constructor(request: RunRequest, engine: GuestEngine, io: GuestIo) {
    this.#request = request
    this.#engine = engine
    this.#io = io
    this.#meter = createMeter(request.limits.cpuMs, io.threadMs)
    this.#counter = createUsageCounter(request.limits, (code, message) => this.#fail(code, message))
    this.#deadline = performance.now() + request.limits.wallMs
    this.#lines = request.source.split('\n').length
    this.#now = request.now
  }

  begin(): void {
    const { source, seed, functions, input, limits } = this.#request
    this.#goOn(() => {
      this.#engine.limitMemory(limits.memoryBytes)
      this.#take(this.#engine.enter(ENTRY_POINT.prepare, JSON.stringify({ seed: seedOf(seed), functions }), input))
      if (this.#ended) return
      const body = this.#engine.evaluate(bodyOf(source), PROGRAM_FILE)
      if ('value' in body) this.#take(this.#engine.enter(ENTRY_POINT.begin, body))
      else this.#take(body, body.thrown.name === 'SyntaxError' ? 'syntax-error' : 'program-error')
    })
  }

  answers(answers: readonly CallReply[]): void {
    this.#goOn(() => {
      for (const answer of answers) if (!this.#ended) this.#deliver(answer)
    })
  }

  over = () => this.#ended !== undefined

  /** True if the engine can be reset: an engine error or a reached limit spoils it. */
  clean(): boolean {
    const ended = this.#ended
    return !this.#trapped && (ended === undefined || 'value' in ended || CLEAN.includes(ended.error.code))
  }

  now = () => this.#now

  interrupted = () => !this.#goesOn()

  outOfMemory = () =>
    this.#fail('memory-limit', `The program needs more than ${this.#request.limits.memoryBytes} bytes.`)

  onHostCall = (kind: number, args: HostCallArguments) => {
    if (this.#ended) return
    if (kind === HOST_CALL.call) this.#counter.call(args)
    else if (kind === HOST_CALL.log) this.#counter.log(args)
    else if (kind === HOST_CALL.done) this.#done(args)
    else if (kind === HOST_CALL.failed) this.#fail('program-error', args.text(1), args.text(2))
    else if (kind === HOST_CALL.timer) this.#timers = true
  }

  #done(args: HostCallArguments): void {
    const { resultBytes } = this.#request.limits
    const value = args.number(2) > resultBytes ? undefined : args.sized(1)
    if (!value || value.bytes > resultBytes)
      this.#fail('result-limit', `What the program returned takes more than ${resultBytes} bytes.`)
    else this.#end({ value: value.text })
  }

  #fail(code: ProgramErrorCode, message: string, stack = ''): void {
    this.#end({ error: { code, message, stack: guestStack(stack, this.#lines) } })
  }

  #end(ended: Ended): void {
    if (this.#ended) return
    this.#ended = ended
    this.#io.post({ type: 'ended', ended, turn: this.#turn() })
  }

  #turn(): ProgramTurn {
    this.#flushedAt = performance.now()
    return {
      ...this.#counter.take(),
      read: this.#read,
      cpuMs: this.#ended ? this.#meter.spentMs() : this.#meter.passedMs(),
      memoryBytes: this.#engine.memoryBytes(),
    }
  }

  /** Checks the limits and flushes pending output; false if the program must stop. */
  #goesOn(): boolean {
    if (this.#ended) return false
    const { cpuMs, wallMs } = this.#request.limits
    const now = performance.now()
    const waits = this.#counter.bytes()
    if (this.#meter.over()) this.#fail('cpu-limit', `The program computed for longer than ${cpuMs} ms.`)
    else if (now >= this.#deadline) this.#fail('time-limit', `The program took longer than ${wallMs} ms.`)
    else if (waits > FLUSH.bytes || (waits > 0 && now - this.#flushedAt > FLUSH.ms))
      this.#io.post({ type: 'turn', turn: this.#turn() })
    return this.#ended === undefined
  }

  /** Runs the program until it waits for a reply or ends. */
  #goOn(work: () => void): void {
    this.#meter.begin()
    try {
      work()
      this.#drain()
      for (let due = this.#nextDue(); due >= 0 && this.#counter.waiting() === 0; due = this.#nextDue())
        if (this.#goesOn()) this.#fire(due)
      if (this.#goesOn() && this.#counter.waiting() === 0) this.#fail('program-error', DEADLOCK)
    } catch (trap) {
      this.#trapped = true
      if (trap instanceof NoMemory) this.outOfMemory()
      else if (trap instanceof RangeError) this.#fail('program-error', 'RangeError: Maximum call stack size exceeded')
      else this.#fail('sandbox-lost', 'The engine broke while the program ran.')
    } finally {
      this.#meter.end()
    }
    this.#read++
    if (!this.#ended) this.#io.post({ type: 'turn', turn: this.#turn() })
  }

  #drain(): void {
    for (let jobs = 1; !this.#ended && this.#engine.runJob(); jobs++) if (jobs % JOBS === 0) this.#goesOn()
  }

  /** Time of the next timer, or −1. */
  #nextDue(): number {
    return this.#timers && !this.#ended ? this.#take(this.#engine.enter(ENTRY_POINT.next)) : -1
  }

  #fire(due: number): void {
    this.#now = Math.max(this.#now, due)
    this.#take(this.#engine.enter(ENTRY_POINT.fire))
    this.#drain()
  }

  #deliver({ seq, ok, text, at }: CallReply): void {
    for (let due = this.#nextDue(); due >= 0 && due <= at; due = this.#nextDue()) this.#fire(due)
    this.#now = Math.max(this.#now, at)
    if (this.#ended || !this.#counter.settle(seq)) return
    this.#take(this.#engine.enter(ok ? ENTRY_POINT.value : ENTRY_POINT.error, seq, text))
    this.#drain()
  }

  /** Reads the result of guest code; an exception ends the program. */
  #take(outcome: Outcome | { number: number }, code: ProgramErrorCode = 'program-error'): number {
    if ('number' in outcome) return outcome.number
    if (!('thrown' in outcome)) return -1
    const { name, message, stack } = outcome.thrown
    this.#fail(code, name === '' ? message : `${name}: ${message}`, stack)
    return -1
  }
}

/** Four seed words from a text (FNV-1a with four offsets). */
function seedOf(seed: string): number[] {
  return [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35].map((from) => {
    let hash = from
    for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193)
    return hash | 0
  })
}

/** Reports a reached limit. */
export type Fail = (code: ProgramErrorCode, message: string) => void
export type UsageCounter = ReturnType<typeof createUsageCounter>

const LEVELS = ['log', 'info', 'warn', 'error', 'debug']

export function createUsageCounter(limits: ProgramLimits, fail: Fail) {
  const sizes = new Map<number, number>()
  let made = 0
  let waitingBytes = 0
  let logBytes = 0
  let out = { calls: [] as SandboxCall[], logs: [] as LogLine[], bytes: 0 }

  const tooMuch = (args: HostCallArguments): [ProgramErrorCode, string] | undefined => {
    if (made + 1 > limits.calls) return ['call-limit', `The program made more than ${limits.calls} calls.`]
    if (sizes.size + 1 > limits.parallelCalls)
      return ['parallel-limit', `More than ${limits.parallelCalls} calls waited for an answer at once.`]
    // A character has at least one byte, so oversized arguments need no copy.
    if (args.number(4) > limits.argumentBytes) return ['argument-limit', tooManyBytes(limits)]
    return undefined
  }

  return {
    waiting: () => sizes.size,
    /** Bytes of pending output. */
    bytes: () => out.bytes,
    take() {
      const { calls, logs } = out
      out = { calls: [], logs: [], bytes: 0 }
      return { calls, logs }
    },
    call(args: HostCallArguments) {
      const over = tooMuch(args)
      if (over) return fail(...over)
      const { text, bytes } = args.sized(3)
      if (bytes > limits.argumentBytes) return fail('argument-limit', tooManyBytes(limits))
      if (hasMoreValues(text, limits.argumentValues)) return fail('argument-limit', tooManyValues(limits))
      if (waitingBytes + bytes > limits.argumentBytes * MAX_PENDING_ARGUMENTS_FACTOR)
        return fail('argument-limit', 'The arguments of the calls that wait for an answer take too much together.')
      out.calls.push({ seq: made, object: args.text(1), name: args.text(2), arguments: text })
      out.bytes += bytes
      waitingBytes += bytes
      sizes.set(made++, bytes)
    },
    /** False if no call with this number is pending. */
    settle(seq: number): boolean {
      waitingBytes -= sizes.get(seq) ?? 0
      return sizes.delete(seq)
    },
    log(args: HostCallArguments) {
      const line = args.number(3) > limits.logBytes ? undefined : args.sized(2)
      // Counts the newline of the entry.
      logBytes += (line?.bytes ?? limits.logBytes) + 1
      if (!line || logBytes > limits.logBytes)
        return fail('log-limit', `The program logged more than ${limits.logBytes} bytes.`)
      const level = LEVELS.find((name) => name === args.text(1)) ?? 'log'
      out.logs.push({ level: level as LogLine['level'], text: line.text })
      out.bytes += line.bytes + 1
    },
  }
}

/** Starts on the program's first line, so that line numbers match. */
export const BODY_HEAD = '(async()=>{"use strict";'
export const BODY_TAIL = '\n})'
export const bodyOf = (source: string) => `${BODY_HEAD}${source}${BODY_TAIL}`

const MAX_FRAMES = 20
const FRAME = new RegExp(`^\\s*at (.*?)\\(?${PROGRAM_FILE}:(\\d+)(?::(\\d+))?\\)?$`)

export function guestStack(stack: string, lines: number): string | undefined {
  const frames = stack.split('\n').flatMap((text) => {
    const [, name = '', line = '', column] = FRAME.exec(text) ?? []
    if (line === '') return []
    const row = Math.min(Number(line), lines)
    const position = Number(column ?? 1) - (row === 1 ? BODY_HEAD.length : 0)
    return `at ${name.trim() || '<anonymous>'} (${PROGRAM_FILE}:${row}:${Math.max(1, position)})`
  })
  return frames.length === 0 ? undefined : frames.slice(0, MAX_FRAMES).join('\n')
}

export const stackLine = (stack: string | undefined): number | undefined => {
  const line = stack?.match(new RegExp(`${PROGRAM_FILE}:(\\d+)`))?.[1]
  return line === undefined ? undefined : Number(line)
}
