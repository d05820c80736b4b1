/** Shared by all forms: their input, the calls of a model, and the function that makes them. */
import { z } from 'zod'
import type { CallOutcome } from '../calls/call.ts'
import { HostError } from '../errors.ts'
import { assertPlainJson, type JsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { ProviderProgram } from '../schema/records/program.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { SelectionData } from '../schema/toolkit/selection.ts'
import type { Caller } from '../schema/toolkit/tool.ts'
import { SEARCH_ENTRY } from '../search/search-tools.ts'

/** The part of a selection that a form needs. */
export type ModelSelection = Pick<SelectionData, 'tools' | 'deferred'>

/** A call from a model's response. */
export interface ModelCall {
  /** Id for returning the result. */
  id: string
  /** Model-facing tool name; resolved when it is called. */
  name: string
  arguments: JsonObject
  /** The model itself, or a provider-run program by its id. */
  caller?: Caller
  /** Why the arguments are invalid. The call is not made, and the model gets the reason. */
  unreadable?: string
  /** Original block or item. */
  source: JsonObject
}

export interface CompletedCall {
  call: ModelCall
  outcome: CallOutcome
}

/** Calls a tool: `selection.call`, or an app's wrapper around it. */
export type CallTool = (call: {
  name: string
  arguments: JsonObject
  caller?: Caller
  /** Model's id of the call; a program call becomes the step of its run with this id. */
  id?: string
  /** Whether approval was requested before, under this id; that answer is used. */
  asked?: boolean
  signal?: AbortSignal
  onPending?: (approval: ApprovalView) => void
}) => Promise<CallOutcome>

export interface CallAllOptions {
  /** Cancels calls in flight and pending approvals. */
  signal?: AbortSignal
  /** Called when a call waits for approval. */
  onPending?: (call: ModelCall, approval: ApprovalView) => void
}

/** Makes the calls in parallel and pairs each with its outcome. */
export function callAll(
  calls: readonly ModelCall[],
  invokeTool: CallTool,
  { signal, onPending }: CallAllOptions = {},
): Promise<CompletedCall[]> {
  return Promise.all(
    calls.map(async (call) => {
      const { id, name, arguments: args, caller, unreadable } = call
      if (unreadable !== undefined) return { call, outcome: notReadable(name, unreadable) }
      const outcome = await invokeTool({
        id,
        name,
        arguments: args,
        ...(caller ? { caller } : {}),
        ...(signal ? { signal } : {}),
        ...(onPending ? { onPending: (approval) => onPending(call, approval) } : {}),
      })
      return { call, outcome }
    }),
  )
}

const notReadable = (name: string, reason: string): CallOutcome => ({
  status: 'failed',
  error: new HostError('invalid-input', { detail: `The arguments of '${name}' cannot be read: ${reason}` }),
})

/** Reads model arguments: an object, or its JSON text. */
export function readArguments(written: unknown): Pick<ModelCall, 'arguments' | 'unreadable'> {
  try {
    const value: unknown = typeof written === 'string' ? JSON.parse(written === '' ? '{}' : written) : (written ?? {})
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { arguments: {}, unreadable: 'they are no JSON object.' }
    assertPlainJson(value)
    return { arguments: value as JsonObject }
  } catch (error) {
    return { arguments: {}, unreadable: error instanceof Error ? error.message.slice(0, 300) : 'they are no JSON.' }
  }
}

/** Structured output of `search_tools`. */
const searchOutput = z.object({ tools: z.array(z.object({ name: z.string() })) })

/** Names that a search found, best first; empty when it failed. */
export function searchResultNames(outcome: CallOutcome): string[] {
  const read = outcome.status === 'ok' ? searchOutput.safeParse(outcome.structuredContent) : undefined
  return read?.success ? read.data.tools.map(({ name }) => name) : []
}

export const SEARCH_NAME = SEARCH_ENTRY.modelName
export const isSearch = ({ ref }: Pick<LoadoutEntry, 'ref'>) => ref === SEARCH_ENTRY.ref

/** Selected tools without the search tool, and the search tool if present. */
export function callParts({ tools }: ModelSelection): { selected: LoadoutEntry[]; search: LoadoutEntry | undefined } {
  const entries = tools.map(({ entry }) => entry)
  return { selected: entries.filter((entry) => !isSearch(entry)), search: entries.find(isSearch) }
}

/**
 * Inserts the search tool of a form where the selection has it, before tools that a later selection may append; at the
 * end if the selection has none.
 */
export function withSearchTool<T>(
  { tools }: ModelSelection,
  { immediate, items, search }: { immediate: readonly LoadoutEntry[]; items: readonly T[]; search: T },
): T[] {
  const at = tools.findIndex(({ entry }) => isSearch(entry))
  const before = new Set(at === -1 ? immediate : tools.slice(0, at).map(({ entry }) => entry))
  const position = immediate.findIndex((entry) => !before.has(entry))
  return position === -1 ? [...items, search] : items.toSpliced(position, 0, search)
}

export const descriptionOf = ({ manifest }: LoadoutEntry): string | undefined => manifest.description ?? manifest.title

/** Truncates program texts to the limits of `selection.follow`. */
export function programOf({ code, output, error, ...program }: ProviderProgram): ProviderProgram {
  return {
    ...program,
    ...(code === undefined ? {} : { code: code.slice(0, 1_000_000) }),
    ...(output === undefined ? {} : { output: output.slice(0, 1_000_000) }),
    ...(error === undefined ? {} : { error: error.slice(-10_000) }),
  }
}
