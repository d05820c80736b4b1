/**
 * Bridge of a program: each call is a step of its run, and tool calls go through the call pipeline. Function names are
 * fixed at the start, so a resumed program finds the same functions.
 */
import { type CallOutcome, isRepeatable } from '../calls/call.ts'
import { callByName } from '../calls/call-by-name.ts'
import type { Calls } from '../calls/calls.ts'
import type { Loadout } from '../loadout/overlay.ts'
import type { ActiveRun, StepOutcome, StepResult, StepWork } from '../runs/engine.ts'
import { canonicalJson, type Json, type JsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { signatureOf } from '../search/search-tools.ts'
import type { Searcher } from '../search/searcher.ts'
import { sleep } from '../util/abort.ts'
import type { Bridge, BridgeCall, BridgeResult } from './executor.ts'

/** Tool ref by object and function name. */
export type FunctionMap = Record<string, Record<string, string>>

/** Built-in functions of every program. */
export const BUILT_IN = ['search', 'describe', 'call', 'read_result'] as const

export interface BridgeDeps {
  calls: Pick<Calls, 'start'>
  searcher: Searcher
  /** Redacts arguments for the log. */
  show(entry: LoadoutEntry | undefined, args: JsonObject): JsonObject
  /** Declaration of a tool for `describe`. */
  declare(entry: LoadoutEntry): Promise<string>
}

export interface BridgeOptions {
  run: ActiveRun
  loadout: Loadout
  functions: FunctionMap
}

const MAX_FOUND = 20
const MAX_NAME_LENGTH = 400
/** Max characters of a stored request: the log shows what was done, it is no copy. */
const MAX_STORED_CHARACTERS = 4000
/** Idle time in ms before a waiting program is suspended. */
const QUIET_MS = 5

export interface ProgramBridge extends Bridge {
  /** Waits for calls that the program did not await, so that they are logged before the run ends. */
  settled(): Promise<void>
  /** Aborts open calls after the program ended. */
  abort(): void
  /** Error that fails the run: its log does not match, or another process owns it. */
  readonly fault: unknown
}

export function createBridge(deps: BridgeDeps, options: BridgeOptions): ProgramBridge {
  return new RunBridge(deps, options)
}

class RunBridge implements ProgramBridge {
  fault: unknown
  readonly owner: string
  readonly functions: Bridge['functions']
  readonly #deps: BridgeDeps
  readonly #options: BridgeOptions
  readonly #open = new Set<Promise<unknown>>()
  readonly #end = new AbortController()
  readonly #signal: AbortSignal
  /** Number of executing steps, without suspended ones. */
  #busy = 0
  #last = 0

  constructor(deps: BridgeDeps, options: BridgeOptions) {
    this.#deps = deps
    this.#options = options
    this.owner = options.run.userId
    this.#signal = AbortSignal.any([options.run.signal, this.#end.signal])
    const named = Object.entries(options.functions).map(([object, names]) => [object, Object.keys(names)] as const)
    this.functions = { ...Object.fromEntries(named), '': BUILT_IN }
  }

  async call(call: BridgeCall): Promise<BridgeResult> {
    this.#busy++
    this.#last = Date.now()
    const step = this.#step(call)
    this.#open.add(step)
    const answer = await step
      .catch((error: unknown) => {
        this.fault ??= error
        return { suspended: 'paused' as const }
      })
      .finally(() => {
        this.#open.delete(step)
        this.#busy--
        this.#last = Date.now()
      })
    if (this.fault !== undefined) return { pause: true }
    if (!('suspended' in answer)) return 'value' in answer ? { value: answer.value, at: answer.at } : answer
    await this.#quiet()
    return { pause: true }
  }

  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open)
  }

  abort(): void {
    this.#end.abort()
  }

  /**
   * Lets other branches continue as far as possible, so that their steps are logged before the program is suspended.
   */
  async #quiet(): Promise<void> {
    const { signal } = this.#options.run
    while (!signal.aborted && (this.#busy > 0 || Date.now() - this.#last < QUIET_MS))
      await sleep(QUIET_MS, { keepAlive: true })
  }

  async #step({ seq, object, name, arguments: args }: BridgeCall): Promise<StepOutcome> {
    const { log } = this.#options.run
    const built = object === '' && name !== 'call'
    const ref = built
      ? name
      : object === ''
        ? String(args[0]).slice(0, MAX_NAME_LENGTH)
        : this.#options.functions[object]?.[name]
    const input = object === '' && name === 'call' ? args[1] : args[0]
    const key = `${ref}#${await hashOf([input])}`
    if (built) return log.step({ seq, key, kind: name, repeatable: true }, this.#builtIn(name, input))
    const entry = this.#find(ref ?? '')
    const repeatable = !entry || isRepeatable(entry)
    return log.step({ seq, key, kind: 'call', repeatable }, this.#tool(ref ?? '', entry, input))
  }

  #find(ref: string): LoadoutEntry | undefined {
    const { tools, entries } = this.#options.loadout
    const isMatch = (entry: LoadoutEntry) => entry.ref === ref || entry.modelName === ref
    return tools.find(isMatch) ?? entries.find(isMatch)
  }

  #tool(ref: string, entry: LoadoutEntry | undefined, input: Json): StepWork {
    const { run, loadout } = this.#options
    const { userId, threadId, runId } = run
    const signal = this.#signal
    const args = input ?? {}
    if (!isObject(args))
      return fixed({ ref }, { error: { code: 'invalid-input', message: `'${ref}' takes one object.` } })
    const request = { ref: entry?.ref ?? ref, arguments: bounded(entry ? this.#deps.show(entry, args) : {}) }
    return {
      request,
      execute: async ({ stepId: callId, approvalId }) => {
        let pendingApproval: ApprovalView | undefined
        const outcome = await callByName(
          { calls: this.#deps.calls, loadout, userId, threadId, runId },
          {
            name: ref,
            arguments: args,
            callId,
            signal,
            pauses: { approvalId },
            caller: { type: 'code', toolId: runId },
            onPending: (approval) => {
              pendingApproval = approval
            },
          },
        )
        if ('error' in outcome && outcome.error.code === 'approval-pending' && pendingApproval)
          return { pause: { approvalId: pendingApproval.id, until: new Date(pendingApproval.expiresAt) } }
        return resultOf(outcome)
      },
    }
  }

  #builtIn(name: string, input: Json): StepWork {
    const request = { name, input: bounded(this.#deps.show(undefined, { input })) }
    if (name === 'search') return { request, execute: () => this.#search(input) }
    if (name === 'describe') return { request, execute: () => this.#describe(input) }
    // `read_result` is a built-in tool and uses the same pipeline.
    return this.#tool('read_result', undefined, input)
  }

  async #search(input: Json): Promise<StepResult> {
    const { query, limit = 5 } = isObject(input) ? input : { query: input }
    if (typeof query !== 'string') return { error: { code: 'invalid-input', message: 'search takes a text.' } }
    const { run, loadout } = this.#options
    const searchOptions = {
      userId: run.userId,
      limit: Math.min(Number(limit) || 5, MAX_FOUND),
      callers: ['code' as const],
    }
    const { hits } = await this.#deps.searcher.search(loadout.entries, query, searchOptions)
    const found = hits.flatMap(({ ref, score }) => {
      const entry = loadout.tools.find((tool) => tool.ref === ref)
      return entry ? [{ name: ref, signature: signatureOf({ ...entry, modelName: ref }), score }] : []
    })
    return { value: found }
  }

  async #describe(input: Json): Promise<StepResult> {
    const entry = typeof input === 'string' ? this.#find(input) : undefined
    if (!entry)
      return { error: { code: 'tool-not-found', message: `There is no tool '${String(input).slice(0, 100)}'.` } }
    return { value: await this.#deps.declare(entry) }
  }
}

function bounded(value: JsonObject): Json {
  const text = JSON.stringify(value)
  return text.length <= MAX_STORED_CHARACTERS
    ? value
    : { cut: text.length, begins: text.slice(0, MAX_STORED_CHARACTERS) }
}

const fixed = (request: Json, result: StepResult): StepWork => ({ request, execute: async () => result })

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

async function hashOf(value: Json): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(value))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return [...digest.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Converts a call outcome to a program value, or an error with its code. */
export function resultOf(outcome: CallOutcome): StepResult {
  if ('error' in outcome) {
    const { code, message, action, errors } = outcome.error
    return { error: { code, message, data: { action, ...(errors ? { errors } : {}) } } }
  }
  const { status, content, structuredContent, resultHandle } = outcome
  const text = textOf(content)
  if (status === 'tool-error') {
    const structured = structuredContent === undefined ? {} : { structuredContent }
    return { error: { code: 'tool-error', message: text || 'The tool failed.', data: { content, ...structured } } }
  }
  // Too large for a program: `read_result` reads it by its handle.
  if (resultHandle !== undefined) return { value: { resultHandle, preview: text ?? '' } }
  return { value: structuredContent ?? plainOf(content, text) }
}

function textOf(content: readonly JsonObject[]): string | undefined {
  const texts = content.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : undefined))
  return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined
}

/** Parses text that is JSON; other content is returned as blocks. */
function plainOf(content: readonly JsonObject[], text: string | undefined): Json {
  if (text === undefined) return content
  if (content.length === 0) return null
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
