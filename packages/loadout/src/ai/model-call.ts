/** What every form shares: what it is made of, the calls that a model asks for, and the one door they go through. */
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

/** A selection, or what a form needs of one. */
export type ModelSelection = Pick<SelectionData, 'tools' | 'deferred'>

/** A call that a model asked for, read from its answer. */
export interface ModelCall {
  /** By which its result is given back. */
  id: string
  /** The model's name of the tool; looked up where it is called. */
  name: string
  arguments: JsonObject
  /** Who asks for it: the model itself, or a program of the provider, by its id. */
  caller?: Caller
  /** Why its arguments cannot be read. It is not called, and the model is told. */
  unreadable?: string
  /** The block or item that it came in, as it was. */
  source: JsonObject
}

export interface CompletedCall {
  call: ModelCall
  outcome: CallOutcome
}

/** The one way to a tool: `selection.call`, or an app's own around it. */
export type CallTool = (call: {
  name: string
  arguments: JsonObject
  caller?: Caller
  /** The model's own id of it: what a program calls is a step of its run by that. */
  id?: string
  /** Asked about ahead, under that id: the answer to that is taken. */
  asked?: boolean
  signal?: AbortSignal
  onPending?: (approval: ApprovalView) => void
}) => Promise<CallOutcome>

export interface CallAllOptions {
  /** Gives up what is under way; what waits for a person, too. */
  signal?: AbortSignal
  /** Told where a person must answer first. The call waits meanwhile. */
  onPending?: (call: ModelCall, approval: ApprovalView) => void
}

/** Makes the calls, at once, and pairs each with what came of it. */
export function callAll(
  calls: readonly ModelCall[],
  callTool: CallTool,
  { signal, onPending }: CallAllOptions = {},
): Promise<CompletedCall[]> {
  return Promise.all(
    calls.map(async (call) => {
      const { id, name, arguments: args, caller, unreadable } = call
      if (unreadable !== undefined) return { call, outcome: notReadable(name, unreadable) }
      const outcome = await callTool({
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

/** What a model wrote as arguments: an object, or the text of one. */
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

/** What `search_tools` answers for programs. */
const searchOutput = z.object({ tools: z.array(z.object({ name: z.string() })) })

/** The names that a search found, best first; none where it failed. */
export function searchResultNames(outcome: CallOutcome): string[] {
  const read = outcome.status === 'ok' ? searchOutput.safeParse(outcome.structuredContent) : undefined
  return read?.success ? read.data.tools.map(({ name }) => name) : []
}

export const SEARCH_NAME = SEARCH_ENTRY.modelName
export const isSearch = ({ ref }: Pick<LoadoutEntry, 'ref'>) => ref === SEARCH_ENTRY.ref

/** The selected tools but for the search, and the search where there is more to find. */
export function partsOf({ tools }: ModelSelection): { selected: LoadoutEntry[]; search: LoadoutEntry | undefined } {
  const entries = tools.map(({ entry }) => entry)
  return { selected: entries.filter((entry) => !isSearch(entry)), search: entries.find(isSearch) }
}

export const descriptionOf = ({ manifest }: LoadoutEntry): string | undefined => manifest.description ?? manifest.title

/** As `selection.follow` takes it: what is longer than it keeps is cut. */
export function programOf({ code, output, error, ...program }: ProviderProgram): ProviderProgram {
  return {
    ...program,
    ...(code === undefined ? {} : { code: code.slice(0, 1_000_000) }),
    ...(output === undefined ? {} : { output: output.slice(0, 1_000_000) }),
    ...(error === undefined ? {} : { error: error.slice(-10_000) }),
  }
}
