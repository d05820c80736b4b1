import { z } from 'zod'
import { invalidInput, type JsonObject } from '../schema/json.ts'
import type { AllowedCaller, Annotations } from '../schema/toolkit/tool.ts'
import type { FunctionContext } from './functions.ts'

export interface ToolDefinition<S extends z.ZodType | JsonObject> {
  name: string
  title?: string
  description?: string
  /** A Zod schema, from which `execute` gets its types, or a JSON Schema. @default an object without properties */
  inputSchema?: S
  outputSchema?: JsonObject
  annotations?: Annotations
  /** Example prompts, which search also matches. */
  examples?: readonly string[]
  /** Override the toolkit's settings. @default those of the toolkit */
  deferLoading?: boolean
  allowedCallers?: readonly AllowedCaller[]
  execute(input: S extends z.ZodType ? z.output<S> : JsonObject, context: FunctionContext): unknown
}

/** A tool of an app function, for `createHost({ toolkits: { tools } })` or the `tools` of a toolkit. */
export interface DefinedTool {
  name: string
  title?: string
  description?: string
  inputSchema: JsonObject
  outputSchema?: JsonObject
  annotations?: Annotations
  examples?: readonly string[]
  deferLoading?: boolean
  allowedCallers?: readonly AllowedCaller[]
  execute(input: JsonObject, context: FunctionContext): unknown
}

/** Defines an app function as a tool. It is listed, searched, approved, audited and called like server tools. */
export function defineTool<const S extends z.ZodType | JsonObject = JsonObject>(
  definition: ToolDefinition<S>,
): DefinedTool {
  const { inputSchema, execute, ...rest } = definition
  if (!(inputSchema instanceof z.ZodType))
    return { ...rest, inputSchema: inputSchema ?? { type: 'object' }, execute: execute as DefinedTool['execute'] }
  const { $schema: _, ...json } = z.toJSONSchema(inputSchema, { io: 'input' })
  return {
    ...rest,
    inputSchema: json,
    // Defaults and transforms belong to the Zod schema; the pipeline validated the rest.
    execute: async (input, context) => {
      const parsed = await inputSchema.safeParseAsync(input)
      if (!parsed.success) throw invalidInput(parsed.error)
      return execute(parsed.data as never, context)
    },
  }
}
