/**
 * Converts a selection for Mastra agents: `tools` for the agent, `prepareStep` for `generate` and `stream`. Every call
 * goes through the pipeline, so that policy, approvals, limits and the log apply.
 */
import { createTool, type Tool } from '@mastra/core/tools'
import type { JsonObject } from '../../schema/json.ts'
import { type FrameworkOptions, type FrameworkSelection, plainTools } from './plain-tools.ts'

export type { FrameworkOptions, FrameworkSelection } from './plain-tools.ts'

export interface MastraForm {
  tools: Record<string, Tool>
  /** Shows the model the selected tools, and those that it found since. */
  prepareStep: () => { activeTools: string[] }
  /** Tells the model how to find more tools, when there are more. Add it to the agent's instructions. */
  instructions?: string
}

export function toMastra(selection: FrameworkSelection, options: FrameworkOptions = {}): MastraForm {
  const { tools, active, ...rest } = plainTools(selection, options)
  return {
    tools: Object.fromEntries(
      tools.map(({ name, description, inputSchema, call }) => [
        name,
        createTool({
          id: name,
          description,
          inputSchema: inputSchema as never,
          execute: async (input, context) => {
            const { text } = await call(input as JsonObject, {
              id: context?.agent?.toolCallId,
              signal: context?.abortSignal,
            })
            return text
          },
        }) as unknown as Tool,
      ]),
    ),
    prepareStep: () => ({ activeTools: active() }),
    ...rest,
  }
}
