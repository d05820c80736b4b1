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
  /** What people ask for when they need it: searches find it by these too. */
  examples?: readonly string[]
  /** Whether it waits to be found, and who may call it. @default what its toolkit says */
  deferLoading?: boolean
  allowedCallers?: readonly AllowedCaller[]
  execute(input: S extends z.ZodType ? z.output<S> : JsonObject, context: FunctionContext): unknown
}

/** A tool made of an app's own function, ready for `createHost({ tools })` or the `tools` of a toolkit. */
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

/** An app's own function as a tool beside those of servers: listed, searched, approved, audited and called like them. */
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
    // Defaults and transforms are the schema's own; the pipeline has checked the rest.
    execute: async (input, context) => {
      const parsed = await inputSchema.safeParseAsync(input)
      if (!parsed.success) throw invalidInput(parsed.error)
      return execute(parsed.data as never, context)
    },
  }
}
