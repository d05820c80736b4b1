/**
 * Runs a model with the tools of a thread or an invocation until it has an answer. Every call goes through the
 * selection, so policy, approvals, limits and audit apply; hits of `search_tools` are available in the next step.
 */

import { generateText, jsonSchema, type LanguageModel, type ModelMessage, Output } from 'ai'
import type { LostInTool } from '../ai/schema/form-schema.ts'
import type { Selection } from '../calls/selection.ts'
import { HostError } from '../errors.ts'
import type { Json, JsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { ResolveOptions } from '../schema/toolkit/selection.ts'
import {
  assertTokensLeft,
  type GenerationLimits,
  type Stopped,
  settingsOf,
  stoppedBy,
  type TokensUsed,
  usedOf,
} from './agent-settings.ts'
import { modelFailure } from './model-failure.ts'

export interface AgentOptions extends GenerationLimits {
  model: LanguageModel
  /** A thread or an invocation: the agent may call the tools of its loadout. */
  tools: { select(options: ResolveOptions): Promise<Selection> }
  /** User prompt. */
  prompt?: string
  /** Conversation instead of `prompt`; its last user message is the prompt. */
  messages?: ModelMessage[]
  system?: string
  /** Tool selection: limit, budget, and `run_code` (`programs`). */
  resolve?: Omit<ResolveOptions, 'prompt' | 'history' | 'model'>
  /** JSON Schema of the answer. @default text */
  output?: JsonObject
  signal?: AbortSignal
  /** Called when a call waits for approval. */
  onPending?: (toolCallId: string, approval: ApprovalView) => void
  /** Values to redact in errors, from `models.open`. */
  secrets?: readonly string[]
  /** @default 2 */
  maxRetries?: number
}

export interface AgentStep {
  text: string
  calls: Array<{ id: string; name: string; arguments: Json }>
  usage: TokensUsed
}

export interface AgentRunResult {
  /** Text, or a value that matches the schema. */
  output: Json
  text: string
  steps: AgentStep[]
  usage: TokensUsed
  stopped: Stopped
  /** Response messages, to continue the conversation. */
  messages: ModelMessage[]
  /** Warnings about limits and the selection. */
  warnings: string[]
  /** The user limit that ended the answer, with its reset time. */
  reached?: HostError
  /** Schema losses of the tools for this model. */
  lost: LostInTool[]
}

export async function agent(options: AgentOptions): Promise<AgentRunResult> {
  const { model, output, maxRetries, tokens } = options
  await assertTokensLeft(tokens)
  const messages = messagesOf(options)
  const { prompt, history } = lastPrompt(messages)
  const name = agentToolName(model)
  const selection = await options.tools.select({ ...options.resolve, prompt, history, model: name })
  const { onPending } = options
  const form = onPending ? { onPending } : {}
  const { settings, warnings, lostIn } = settingsOf({ ...options, messages, selection, form })
  try {
    const result = await generateText({
      ...settings,
      ...(output ? { output: Output.object({ schema: jsonSchema(output) }) } : {}),
      ...(maxRetries === undefined ? {} : { maxRetries }),
    })
    const { text, steps, usage, responseMessages } = result
    const { reached } = (await tokens?.state()) ?? {}
    const stopped = stoppedBy(steps, { ...options, reached })
    return {
      // A truncated answer does not match the schema.
      output: output && stopped === 'done' ? (result.output as Json) : text,
      text,
      stopped,
      usage: usedOf(usage),
      messages: responseMessages,
      steps: steps.map(({ text: stepText, toolCalls, usage: used }) => ({
        text: stepText,
        calls: toolCalls.map(({ toolCallId: id, toolName, input }) => ({
          id,
          name: toolName,
          arguments: input as Json,
        })),
        usage: usedOf(used),
      })),
      warnings: [...selection.warnings, ...warnings],
      lost: lostIn(selection.next()),
      ...(stopped === 'limit' && reached ? { reached } : {}),
    }
  } catch (error) {
    throw modelFailure(error, { name, secrets: options.secrets ?? [] })
  }
}

export const agentToolName = (model: LanguageModel) =>
  typeof model === 'string' ? model : `${model.provider.split('.')[0]}:${model.modelId}`

function messagesOf({ prompt, messages }: AgentOptions): ModelMessage[] {
  if (messages && messages.length > 0) return messages
  if (prompt !== undefined && prompt !== '') return [{ role: 'user', content: prompt }]
  throw new HostError('invalid-input', { detail: 'An agent needs a prompt or messages.' })
}

/** Maximum length of the search prompt. */
const MAX_PROMPT_LENGTH = 100_000
/** Recent messages are enough to select tools. */
const MAX_HISTORY = 200

export function lastPrompt(messages: readonly ModelMessage[]): { prompt: string; history: ModelMessage[] } {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const last = messages[at]
  return {
    prompt: last ? textOf(last).slice(0, MAX_PROMPT_LENGTH) : '',
    history: messages.slice(0, Math.max(0, at)).slice(-MAX_HISTORY),
  }
}

function textOf({ content }: ModelMessage): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim()
}
