/**
 * Registers app functions as tools. A function cannot be stored: the record has its manifest and `ref:host`, and the
 * function is looked up in the process that registered it by owner, toolkit and tool, so no user record reaches a
 * function of another owner. Named functions (`toolkits: { functions }`) are available to every record as
 * `ref:<name>`.
 */

import type { JsonObject } from '../schema/json.ts'
import type { Caller } from '../schema/toolkit/tool.ts'
import { isObject } from '../util/is-object.ts'

/** Context of a call for its function. */
export interface FunctionContext {
  userId: string
  threadId?: string | undefined
  callId: string
  caller: Caller
  /** Aborted when the caller cancels or the timeout expires. */
  signal: AbortSignal
}

/** Returns a text, a JSON value or `{ content }`. A thrown error becomes the tool error. */
export type ToolFunction = (input: never, context: FunctionContext) => unknown

export const HOST_FUNCTION = 'ref:host'

/** Name in `ref:<name>`, or undefined for code. */
export const refName = (execute: string): string | undefined => /^\s*ref:\s*(\S+)\s*$/.exec(execute)?.[1]

export interface FunctionAddress {
  /** A user, or the app (''). */
  userId: string
  toolkit: string
  tool: string
}

export interface Functions {
  find(address: FunctionAddress): ToolFunction | undefined
  /** A named function of the app, for every record. */
  named(name: string): ToolFunction | undefined
  names(): string[]
  /** Replaces all functions of a toolkit. */
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

/** Extracts functions from a record and replaces each with `ref:host`. */
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
