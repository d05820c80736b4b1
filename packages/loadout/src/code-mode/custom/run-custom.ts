/**
 * Runs the code of a custom tool in the host's executor, within program limits and the call timeout, with validated
 * input, the toolkit's secrets, a guarded `fetch` and the declared tools. Secrets are redacted from results, logs and
 * errors.
 */

import type { FetchLike } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import type { CallOutcome, ResolvedCall } from '../../calls/call.ts'
import { failed } from '../../calls/call.ts'
import type { Calls } from '../../calls/calls.ts'
import { customResult, type FunctionLimits, type RunCode } from '../../calls/custom-function.ts'
import { HostError } from '../../errors.ts'
import type { AppConfig } from '../../schema/app-config.ts'
import type { Json, JsonObject } from '../../schema/json.ts'
import type { CustomServer, CustomTool } from '../../schema/toolkit/server.ts'
import { formsOf, maskDeep, redact } from '../../toolkits/secrets/redact.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'
import type { Execution, Executor, LogLine, Program, ProgramLimits } from '../executor.ts'
import { type ProgramFault, type ReadProgram, readProgram } from '../parse/read-program.ts'
import { DEEPEST } from '../sandbox/semaphore.ts'
import { CustomBridge } from './bridge.ts'
import { createRequestHandler } from './requests.ts'
import { customToolRefs, type DeclaredDeps, declaredNames } from './tools.ts'

export interface CustomCodeDeps extends DeclaredDeps {
  executor: Executor
  limits?: Partial<ProgramLimits> | undefined
  calls: Pick<Calls, 'start'>
  app: { get(): Promise<AppConfig> }
  /** Secrets of a stored toolkit, by field. */
  secrets(owner: { userId: string; toolkit: string }): Promise<Record<string, string>>
  /** Guarded fetch of user servers. */
  send: FetchLike
}

const WALL_MS = 60_000
/** Max characters of cached programs. */
const MAX_CACHED_CODE = 4_000_000

export function createCustomCode(deps: CustomCodeDeps): RunCode {
  const read = new LRUCache<string, ReadProgram>({
    maxSize: MAX_CACHED_CODE,
    sizeCalculation: (_, source) => source.length + 1,
  })
  const programOf = async (source: string) => {
    const cached = read.get(source)
    if (cached) return cached
    const fresh = await readProgram({ source })
    read.set(source, fresh)
    return fresh
  }
  return async (call, tool, limits) => {
    const problem = tooDeep(call)
    if (problem) return failed(problem)
    const program = await programOf(tool.execute)
    if (!program.ok) throw unreadable(program.error)
    // Aborts open requests when the code ends.
    const over = new AbortController()
    const signal = AbortSignal.any(call.signal ? [call.signal, over.signal] : [over.signal])
    try {
      return await perform({ deps, limits, call: { ...call, signal } }, tool, program.source)
    } finally {
      over.abort()
    }
  }
}

interface Running {
  deps: CustomCodeDeps
  call: ResolvedCall
  limits: FunctionLimits
}

async function perform(running: Running, tool: CustomTool, code: string): Promise<CallOutcome> {
  const { deps, call } = running
  const secrets = await secretsOf(deps, call.stored)
  const mask = createMask(Object.values(secrets))
  const bridge = await bridgeOf(deps, call, tool)
  const input = { input: call.arguments, secrets } satisfies CustomInput
  const program: Program = { source: customSource(code), input, seed: call.callId, now: Date.now() }
  const execution = await run(running, program, bridge)
  call.onLogs?.(execution.logs.map(({ level, text }) => ({ level, text: mask.text(text) })))
  return outcomeOf(execution, mask)
}

const unreadable = ({ message, action }: ProgramFault) => new HostError('program-failed', { detail: message, action })

const toolKeyOf = ({ stored, tool }: ResolvedCall) => `${stored.uscoId}.${tool}`

function tooDeep(call: ResolvedCall): HostError | undefined {
  const { inside = [], stored, tool } = call
  const ref = `${stored.toolkit.id}.${tool}`
  const action = 'Change `tools` of the toolkit, or what its code calls.'
  if (inside.includes(toolKeyOf(call)))
    return new HostError('program-failed', { detail: `'${ref}' calls itself, which is refused.`, action })
  if (inside.length < DEEPEST) return undefined
  const detail = `Custom tools call each other at most ${DEEPEST} deep; '${ref}' would be deeper.`
  return new HostError('program-failed', { detail, action })
}

/** Number of programs and custom tools that wait for this call. */
const depthOf = ({ caller, inside = [] }: ResolvedCall) => inside.length + (caller.type === 'code' ? 1 : 0)

const FIELD = 'secrets.'

async function secretsOf({ secrets }: CustomCodeDeps, stored: StoredToolkit): Promise<Record<string, string>> {
  if ((stored.toolkit.server as CustomServer).secrets === undefined) return {}
  const all = stored.ephemeral?.secrets() ?? (await secrets({ userId: stored.userId, toolkit: stored.uscoId }))
  const own = Object.entries(all).filter(([field]) => field.startsWith(FIELD))
  return Object.fromEntries(own.map(([field, value]) => [field.slice(FIELD.length), value]))
}

async function bridgeOf(deps: CustomCodeDeps, call: ResolvedCall, tool: CustomTool): Promise<CustomBridge> {
  const declared = await customToolRefs(deps, call, tool.tools)
  const names = declaredNames(declared, tool.execute)
  const { customToolkits } = await deps.app.get()
  const perform = createRequestHandler({
    calls: deps.calls,
    call,
    declared,
    names,
    inside: [...(call.inside ?? []), toolKeyOf(call)],
    fetch: { send: deps.send, hosts: tool.hosts ?? [], allowed: customToolkits.hosts, signal: call.signal },
  })
  const toolkits = [...names].map(([object, refs]) => [object, [...refs.keys()]] as const)
  const own = declared.size > 0 ? ['fetch', 'call', 'read_result'] : ['fetch', 'call']
  const functions = { ...Object.fromEntries(toolkits), '': own }
  return new CustomBridge({ owner: call.userId, depth: depthOf(call), functions, perform })
}

/** The timeout does not run while an approval is pending. */
async function run({ deps, call, limits }: Running, program: Program, bridge: CustomBridge): Promise<Execution> {
  const { executor, limits: most = {} } = deps
  let left = limits.callMs
  for (;;) {
    const wallMs = Math.min(most.wallMs ?? WALL_MS, left)
    const started = performance.now()
    bridge.begin()
    const execution = await executor.execute(program, bridge, { limits: { ...most, wallMs }, signal: call.signal })
    left -= performance.now() - started
    if (execution.status === 'failed' && execution.error.code === 'time-limit' && wallMs < (most.wallMs ?? WALL_MS))
      throw late(limits)
    if (execution.status !== 'paused') return execution
    if (left <= 0) throw late(limits)
    await bridge.answer(call.signal)
  }
}

function late({ callMs, onLate }: FunctionLimits): HostError {
  onLate?.(callMs)
  return new HostError('server-timeout', { detail: `The code of the tool did not finish within ${callMs} ms.` })
}

function outcomeOf(execution: Execution, mask: Mask): CallOutcome {
  if (execution.status === 'completed') return mask.outcome(customResult(execution.value))
  if (execution.status === 'paused') throw new HostError('internal')
  const { code, message, line } = execution.error
  if (code === 'cancelled') throw new HostError('cancelled')
  const where = line === undefined ? '' : ` (line ${line})`
  const logs = formatLogs(execution.logs)
  const text = mask.text(`${message}${where}${logs === '' ? '' : `\nLog:\n${logs}`}`)
  // An exception of the code is a tool error; a reached limit is a host error.
  if (code === 'program-error') return { status: 'tool-error', content: [{ type: 'text', text }] }
  throw new HostError('program-failed', { detail: `The code of the tool ended by ${code}: ${text}` })
}

/** Input of the program. The wrapper keeps line numbers and is no security boundary; the host side of the bridge is. */
export interface CustomInput {
  input: Json
  secrets: Record<string, string>
}

const BEFORE = 'return (async (input, secrets, fetch) => {'

/** `fetch` for guests with a Response-like result; header names are case-insensitive. */
const FETCH = `((send) => async (url, init) => {
  const { method, headers, body, redirect } = init ?? {}
  const pairs = headers == null ? [] : typeof headers[Symbol.iterator] === 'function' ? [...headers] : Object.entries(headers)
  const response = await send(String(url), { method, headers: pairs.map(([name, value]) => [String(name), String(value)]), body, redirect })
  const headerMap = new Map(response.headers)
  const low = (name) => String(name).toLowerCase()
  return {
    status: response.status, statusText: response.statusText, ok: response.status >= 200 && response.status < 300,
    url: response.url, redirected: response.redirected,
    headers: {
      get: (name) => headerMap.get(low(name)) ?? null, has: (name) => headerMap.has(low(name)),
      keys: () => headerMap.keys(), values: () => headerMap.values(), entries: () => headerMap.entries(),
      forEach: (work) => headerMap.forEach((value, name) => work(value, name)), [Symbol.iterator]: () => headerMap.entries(),
    },
    text: async () => response.body, json: async () => JSON.parse(response.body),
  }
})`

/** Starts a new line, because the code may end with a comment. */
export const customSource = (code: string): string =>
  `${BEFORE}${code}\n})(input.input, Object.freeze(input.secrets), ${FETCH}(fetch))`

/** Redacts the secrets of a custom toolkit from results, logs and errors. */
export interface Mask {
  text(text: string): string
  outcome(outcome: CallOutcome): CallOutcome
}

/** Max characters of logs in an error; the end is kept. */
const LOG_CHARACTERS = 4000

export function createMask(secrets: readonly string[]): Mask {
  const forms = formsOf(secrets)
  // Results hide only the toolkit's own secrets, because other keys may be the requested data.
  const deep = (value: unknown): unknown => maskDeep(value, forms)
  return {
    text: (text) => redact(text, secrets),
    outcome(outcome) {
      if ('error' in outcome || forms.length === 0) return outcome
      const { content, structuredContent, ...rest } = outcome
      return {
        ...rest,
        content: content.map((block) => deep(block) as JsonObject),
        ...(structuredContent === undefined ? {} : { structuredContent: deep(structuredContent) }),
      }
    },
  }
}

/** Formats logs for error messages. */
export function formatLogs(logs: readonly LogLine[]): string {
  const text = logs.map(({ level, text }) => (level === 'log' ? text : `${level}: ${text}`)).join('\n')
  return text.length > LOG_CHARACTERS ? `…${text.slice(-LOG_CHARACTERS)}` : text
}
