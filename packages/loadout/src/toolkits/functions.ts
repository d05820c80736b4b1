/**
 * The app's own functions as tools. A function cannot be stored: the record keeps its manifest and says `ref:host`, and
 * the function is found in the process that registered it, by its owner, toolkit and tool, so that no record of a user
 * reaches a function of another owner. Those that the app gives a name (`createHost({ functions })`) are for the records of
 * everyone, as `ref:<name>`.
 */

import type { JsonObject } from '../schema/json.ts'
import { isObject } from '../schema/read/field-aliases.ts'
import type { Caller } from '../schema/toolkit/tool.ts'

/** What a function learns of its call. */
export interface FunctionContext {
  userId: string
  threadId?: string | undefined
  callId: string
  caller: Caller
  /** Aborted when the caller gives up or the time runs out. */
  signal: AbortSignal
}

/** Gives a text, a JSON value, or `{ content }` of its own; what it throws becomes the tool's error. */
export type ToolFunction = (input: never, context: FunctionContext) => unknown

export const HOST_FUNCTION = 'ref:host'

/** The name in `ref:<name>`, or undefined where it is code. */
export const refName = (execute: string): string | undefined => /^\s*ref:\s*(\S+)\s*$/.exec(execute)?.[1]

export interface FunctionAddress {
  /** Whose: a user, or the app (''). */
  userId: string
  toolkit: string
  tool: string
}

export interface Functions {
  find(address: FunctionAddress): ToolFunction | undefined
  /** One that the app gave a name, for whoever names it. */
  named(name: string): ToolFunction | undefined
  names(): string[]
  /** Replaces all of a toolkit. */
  put(toolkit: Omit<FunctionAddress, 'tool'>, functions: ReadonlyMap<string, ToolFunction>): void
}

export function createFunctions(namedFunctions: Readonly<Record<string, ToolFunction>> = {}): Functions {
  const byToolkit = new Map<string, ReadonlyMap<string, ToolFunction>>()
  const keyOf = ({ userId, toolkit }: Omit<FunctionAddress, 'tool'>) => JSON.stringify([userId, toolkit])
  return {
    named: (name) => (Object.hasOwn(namedFunctions, name) ? namedFunctions[name] : undefined),
    names: () => Object.keys(namedFunctions),
    find: (address) => byToolkit.get(keyOf(address))?.get(address.tool),
    put(toolkit, functions) {
      if (functions.size === 0) byToolkit.delete(keyOf(toolkit))
      else byToolkit.set(keyOf(toolkit), functions)
    },
  }
}

/** The record with `ref:host` where functions stood, and the functions by the name of their tool. */
export function takeFunctions(input: unknown): { input: unknown; functions: ReadonlyMap<string, ToolFunction> } {
  const functions = new Map<string, ToolFunction>()
  const take = (tool: unknown, key?: string): unknown => {
    if (!isObject(tool) || typeof tool.execute !== 'function') return tool
    functions.set(String(tool.name ?? key), tool.execute as ToolFunction)
    return { ...tool, execute: HOST_FUNCTION }
  }
  const takeAll = (record: JsonObject): JsonObject => {
    const { tools, server } = record
    if (isObject(server)) return { ...record, server: takeAll(server) }
    if (Array.isArray(tools)) return { ...record, tools: tools.map((tool) => take(tool)) }
    if (!isObject(tools)) return record
    return { ...record, tools: Object.fromEntries(Object.entries(tools).map(([key, tool]) => [key, take(tool, key)])) }
  }
  return { input: isObject(input) ? takeAll(input) : input, functions }
}
