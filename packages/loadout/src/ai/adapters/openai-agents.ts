/**
 * Converts a selection for the OpenAI Agents SDK: pass `tools` to `Agent`. Every call goes through the pipeline, so that
 * policy, approvals, limits and the log apply.
 */
import { type FunctionTool, tool } from '@openai/agents'
import type { JsonObject } from '../../schema/json.ts'
import { type FrameworkOptions, type FrameworkSelection, plainTools } from './plain-tools.ts'

export type { FrameworkOptions, FrameworkSelection } from './plain-tools.ts'

export interface OpenAIAgentsForm {
  /** Those that are deferred are disabled until the model finds them. */
  tools: FunctionTool[]
  /** Tells the model how to find more tools, when there are more. Add it to the agent's instructions. */
  instructions?: string
}

export function toOpenAIAgents(selection: FrameworkSelection, options: FrameworkOptions = {}): OpenAIAgentsForm {
  const { tools, active, ...rest } = plainTools(selection, options)
  return {
    tools: tools.map(({ name, description, inputSchema, call }) =>
      tool({
        name,
        description,
        strict: false,
        parameters: { required: [], ...inputSchema, additionalProperties: true } as never,
        isEnabled: () => active().includes(name),
        execute: async (input, _context, details) => {
          const { text } = await call(input as JsonObject, { id: details?.toolCall?.callId, signal: details?.signal })
          return text
        },
      }),
    ) as FunctionTool[],
    ...rest,
  }
}
