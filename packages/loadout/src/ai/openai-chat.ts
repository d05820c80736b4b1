/**
 * A selection for OpenAI Chat Completions, and for all who speak it. It has no search of its own: `search_tools` is a function
 * like any other, and what it finds is there in the request that is made of `selection.next()`.
 */
import { z } from 'zod'
import { type JsonObject, jsonObject } from '../schema/json.ts'
import { SEARCH_ENTRY } from '../search/search-tools.ts'
import type { LimitedProvider } from './limits.ts'
import {
  type AnsweredCall,
  descriptionOf,
  type ModelCall,
  type ModelSelection,
  partsOf,
  readArguments,
} from './model-call.ts'
import { planTools } from './plan-tools.ts'
import { notShown, resultParts } from './result-parts.ts'

export interface OpenAIChatTool {
  type: 'function'
  function: { name: string; description?: string; parameters: JsonObject }
}

export interface OpenAIChatForm {
  tools: OpenAIChatTool[]
  /** Limits that are near, and what was left out. */
  warnings: string[]
}

export interface OpenAIChatOptions {
  /** Whose limits hold: others speak this API too. @default 'openai-chat' */
  provider?: LimitedProvider
}

export function toOpenAIChat(
  selection: ModelSelection,
  { provider = 'openai-chat' }: OpenAIChatOptions = {},
): OpenAIChatForm {
  const { selected, search } = partsOf(selection)
  const plan = planTools({ provider, reserved: search ? 1 : 0, shown: selected })
  const entries = [...plan.shown, ...(search ? [SEARCH_ENTRY] : [])]
  return {
    tools: entries.map((entry) => {
      const description = descriptionOf(entry)
      const { inputSchema: parameters } = entry.manifest
      const named = { name: entry.modelName, ...(description === undefined ? {} : { description }) }
      return { type: 'function', function: { ...named, parameters } }
    }),
    warnings: plan.warnings,
  }
}

const toolCall = z.looseObject({
  ...{ id: z.string().max(500), type: z.literal('function') },
  function: z.looseObject({ name: z.string().max(500), arguments: z.unknown() }),
})

/** The calls of one message of the model. */
export function readOpenAIChat(message: { tool_calls?: readonly unknown[] | null | undefined }): {
  calls: ModelCall[]
} {
  return {
    calls: (message.tool_calls ?? []).flatMap((item) => {
      const read = toolCall.safeParse(item)
      if (!read.success) return []
      const { id, function: made } = read.data
      return [{ id, name: made.name, ...readArguments(made.arguments), source: jsonObject.parse(item) }]
    }),
  }
}

/** The messages that answer them, which follow the model's own at once. */
export const answerOpenAIChat = (answered: readonly AnsweredCall[]) =>
  answered.map(({ call, outcome }) => ({
    role: 'tool' as const,
    tool_call_id: call.id,
    content: resultParts(outcome)
      .map((part) => (part.type === 'text' ? part.text : notShown(part)))
      .join('\n'),
  }))
