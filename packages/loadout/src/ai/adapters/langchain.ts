/**
 * Converts a selection for LangChain agents: pass `tools` and `middleware` to `createAgent`. Every call goes through the
 * pipeline, so that policy, approvals, limits and the log apply.
 */
import { type StructuredToolInterface, tool } from '@langchain/core/tools'
import { type AgentMiddleware, createMiddleware } from 'langchain'
import type { JsonObject } from '../../schema/json.ts'
import { type FrameworkOptions, type FrameworkSelection, plainTools } from './plain-tools.ts'

export type { FrameworkOptions, FrameworkSelection } from './plain-tools.ts'

export interface LangChainForm {
  /** Each result has the model's text as content and the outcome as artifact. */
  tools: StructuredToolInterface[]
  /** Shows the model the selected tools, and those that it found since. */
  middleware: AgentMiddleware[]
  /** Tells the model how to find more tools, when there are more. Add it to the system prompt. */
  instructions?: string
}

export function toLangChain(selection: FrameworkSelection, options: FrameworkOptions = {}): LangChainForm {
  const { tools, active, ...rest } = plainTools(selection, options)
  const ours = new Set(tools.map(({ name }) => name))
  const middleware = createMiddleware({
    name: 'Loadout',
    wrapModelCall(request, next) {
      const visible = active()
      const isOwn = (name: unknown) => typeof name === 'string' && ours.has(name)
      const others = request.tools.filter(({ name }) => !isOwn(name))
      const byName = new Map(request.tools.map((one) => [one.name, one]))
      const own = visible.map((name) => byName.get(name)).filter((one) => one !== undefined)
      return next({ ...request, tools: [...own, ...others] })
    },
  })
  return {
    tools: tools.map(({ name, description, inputSchema, call }) =>
      tool(
        async (input, config) => {
          const { text, outcome } = await call(input as JsonObject, { id: config.toolCall?.id, signal: config.signal })
          return [text, outcome]
        },
        { name, description, schema: inputSchema, responseFormat: 'content_and_artifact' },
      ),
    ),
    middleware: [middleware],
    ...rest,
  }
}
