/**
 * Converts a selection for OpenAI Chat Completions and compatible APIs. The API has no tool search: `search_tools` is a
 * function, and its hits are in the next request, made from `selection.next()`.
 */
import { z } from 'zod'
import { type JsonObject, jsonObject } from '../../schema/json.ts'
import type { LimitedProvider } from '../limits.ts'
import {
  type CompletedCall,
  callParts,
  descriptionOf,
  type ModelCall,
  type ModelSelection,
  readArguments,
  withSearchTool,
} from '../model-call.ts'
import { planTools } from '../plan-tools.ts'
import { openaiSchemas } from '../provider-options.ts'
import { filePlaceholder, resultParts } from '../result-parts.ts'
import { argumentsForTool, formSchema, type LostInTool, lostInOpenAI } from '../schema/form-schema.ts'
import type { SchemaProvider } from '../schema/schema-rules.ts'

export interface OpenAIChatTool {
  type: 'function'
  function: { name: string; description?: string; parameters: JsonObject; strict?: true }
}

export interface OpenAIChatForm {
  tools: OpenAIChatTool[]
  /** Limits that are near or exceeded. */
  warnings: string[]
  /** Losses of projected schemas. */
  lost: LostInTool[]
}

export interface OpenAIChatOptions {
  /** Provider whose limits apply: others use this API too. @default 'openai-chat' */
  provider?: LimitedProvider
  /**
   * Projects schemas for this provider. Pass `openai-strict` to `readOpenAIChat` too. @default schemas as servers wrote
   * them
   */
  schemas?: SchemaProvider | undefined
}

export function toOpenAIChat(
  selection: ModelSelection,
  { provider = 'openai-chat', schemas }: OpenAIChatOptions = {},
): OpenAIChatForm {
  const { selected, search } = callParts(selection)
  const plan = planTools({ provider, reserved: search ? 1 : 0, immediate: selected })
  const { immediate } = plan
  const entries = search ? withSearchTool(selection, { immediate, items: immediate, search }) : immediate
  return {
    tools: entries.map((entry) => {
      const description = descriptionOf(entry)
      const { schema: parameters, strict } = formSchema(entry, openaiSchemas(entry, schemas))
      const base = { name: entry.modelName, ...(description === undefined ? {} : { description }) }
      return { type: 'function', function: { ...base, parameters, ...(strict ? { strict } : {}) } }
    }),
    warnings: plan.warnings,
    lost: lostInOpenAI(plan.immediate, schemas),
  }
}

const toolCall = z.looseObject({
  id: z.string().max(500),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string().max(500), arguments: z.unknown() }),
})

/** Reads the calls of a model message. */
export function readOpenAIChat(
  selection: ModelSelection,
  message: { tool_calls?: readonly unknown[] | null | undefined },
  { schemas }: Pick<OpenAIChatOptions, 'schemas'> = {},
): { calls: ModelCall[] } {
  return {
    calls: (message.tool_calls ?? []).flatMap((item) => {
      const read = toolCall.safeParse(item)
      if (!read.success) return []
      const { id, function: functionCall } = read.data
      const { name } = functionCall
      const written = readArguments(functionCall.arguments)
      const args = argumentsForTool(written.arguments, { name, selection, schemas })
      return [{ id, name, ...written, arguments: args, source: jsonObject.parse(item) }]
    }),
  }
}

export interface OpenAIChatAnswer {
  role: 'tool'
  tool_call_id: string
  content: string
}

/** Tool messages with the results of one turn, which directly follow the model's message. */
export function answerOpenAIChat(_selection: ModelSelection, completed: readonly CompletedCall[]): OpenAIChatAnswer[] {
  return completed.map(({ call, outcome }) => ({
    role: 'tool',
    tool_call_id: call.id,
    content: resultParts(outcome)
      .map((part) => (part.type === 'text' ? part.text : filePlaceholder(part)))
      .join('\n'),
  }))
}
