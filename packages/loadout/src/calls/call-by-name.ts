/** Resolves a model call by the name that the model saw. Names are looked up in its loadout, never parsed. */
import { z } from 'zod'
import { HostError } from '../errors.ts'
import type { Loadout } from '../loadout/overlay.ts'
import { isDecidedAtCallTime } from '../loadout/policy-filter.ts'
import { invalidInput, type JsonObject, jsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { Caller } from '../schema/toolkit/tool.ts'
import { builtInByName, isBuiltIn } from './built-in/built-in-tools.ts'
import type { CallOutcome, ToolCall } from './call.ts'
import { failed } from './call.ts'
import type { CallRequest, Calls } from './calls.ts'

export interface NamedCall {
  /** A model name (`mcp_github_create_issue`) or a ref (`github.create_issue`). */
  name: string
  arguments: JsonObject
  caller?: Caller | undefined
  /** Call ID of the model. For provider programs, the same ID is the same step of the run. */
  id?: string | undefined
  /** The prompt. A successful call stores it as a search example for this user. */
  prompt?: string | undefined
  visibleRefs?: ToolCall['visibleRefs']
  callers?: ToolCall['callers']
  signal?: AbortSignal | undefined
  onProgress?: ToolCall['onProgress']
  trace?: ToolCall['trace']
  /** For runs: the ID of the call; `pauses` ends the call if approval is needed. */
  callId?: string | undefined
  pauses?: ToolCall['pauses']
  /** Whether `ask` was called with the same ID: its answer is used. */
  asked?: boolean | undefined
  /** Called when the call needs approval. */
  onPending?: ((approval: ApprovalView) => void) | undefined
}

/** Fields that a model writes; the app sets the others. */
const namedInput = z.looseObject({ name: z.string(), arguments: jsonObject })

export interface CallScope {
  calls: Pick<Calls, 'start'>
  loadout: Loadout
  userId: string
  threadId?: string | undefined
  /** The run that makes the call. */
  runId?: string | undefined
  inlineToolkits?: ToolCall['inlineToolkits']
}

export async function callByName(scope: CallScope, call: NamedCall): Promise<CallOutcome> {
  const resolved = resolveRequest(scope, call)
  if ('outcome' in resolved) return resolved.outcome
  const running = scope.calls.start(resolved.request)
  if (call.onPending) void running.pending.then(call.onPending)
  return running.outcome
}

/** Converts a named call to a request, or to an outcome if no such tool is available. */
export function resolveRequest(scope: CallScope, call: NamedCall): { request: CallRequest } | { outcome: CallOutcome } {
  const parsed = namedInput.safeParse(call)
  if (!parsed.success) return { outcome: failed(invalidInput(parsed.error)) }
  const entry = findTool(scope.loadout, call.name)
  const builtIn = entry
    ? isBuiltIn(entry)
      ? { toolkit: entry.toolkit, tool: entry.tool }
      : undefined
    : builtInByName(call.name)
  if (builtIn) return { request: request(scope, call, { ...builtIn, loadout: scope.loadout }) }
  if (!entry) return { outcome: failed(unknownTool(scope.loadout, call.name)) }
  const blocking = entry.reasons.filter((reason) => reason.speaks === 'against')
  if (!entry.included && !isDecidedAtCallTime(blocking)) {
    const why = blocking.map((reason) => reason.detail).join(' ')
    const detail = `The tool '${entry.ref}' is not carried. ${why}`.trim()
    return { outcome: failed(new HostError('not-carried', { detail })) }
  }
  const { inlineToolkits } = scope
  const toolkit = inlineToolkits?.has(entry.toolkit) ? entry.toolkit : (entry.uscoId ?? entry.toolkit)
  return { request: request(scope, call, { toolkit, tool: entry.tool, loadout: scope.loadout }) }
}

function request(
  { userId, threadId, runId, inlineToolkits }: CallScope,
  call: NamedCall,
  tool: Pick<ToolCall, 'toolkit' | 'tool' | 'loadout'>,
): CallRequest {
  const { name: _, id: __, asked: ___, onPending: ____, arguments: args, callId, ...rest } = call
  const { caller = { type: 'direct' }, ...more } = rest
  const callRequest = { userId, threadId, runId, inlineToolkits, ...tool, arguments: args, caller, ...more }
  return callId === undefined ? callRequest : { ...callRequest, callId }
}

/** Available tools first: a hidden toolkit may have a tool with the same ref. */
export function findTool({ tools, entries }: Loadout, name: string): LoadoutEntry | undefined {
  const matches = (entry: LoadoutEntry) => entry.modelName === name || entry.ref === name
  return tools.find(matches) ?? entries.find(matches)
}

const MAX_NAMES = 20

function unknownTool({ tools }: Loadout, name: string): HostError {
  const names = tools.map((tool) => tool.modelName)
  const available =
    names.length === 0
      ? 'There are none.'
      : `There are: ${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}.`
  return new HostError('tool-not-found', { detail: `There is no tool '${name.slice(0, 100)}'. ${available}` })
}
