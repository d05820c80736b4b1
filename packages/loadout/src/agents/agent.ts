/**
 * A model with the tools of a thread or an invocation, until it has an answer. Every call goes through the selection, so rules,
 * approvals, limits and the log hold as they do for any other; what `search_tools` finds is there in the next step.
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
  /** A thread, or an invocation: what it carries is what the agent may call. */
  tools: { select(options: ResolveOptions): Promise<Selection> }
  /** What is asked. */
  prompt?: string
  /** Or a conversation, whose last message is what is asked. */
  messages?: ModelMessage[]
  system?: string
  /** How tools are chosen: how many, for how much, and `run_code` beside them (`programs`). */
  resolve?: Omit<ResolveOptions, 'prompt' | 'history' | 'model'>
  /** JSON Schema of the answer. @default text */
  output?: JsonObject
  signal?: AbortSignal
  /** Told where a person must answer first. The call waits meanwhile. */
  onPending?: (toolCallId: string, approval: ApprovalView) => void
  /** What an error must not tell: `models.open` gives it. */
  secrets?: readonly string[]
  /** @default 2 */
  maxRetries?: number
}

export interface AgentStep {
  text: string
  calls: Array<{ id: string; name: string; arguments: Json }>
  usage: TokensUsed
}

export interface AgentResult {
  /** The text, or what fits the schema. */
  output: Json
  text: string
  steps: AgentStep[]
  usage: TokensUsed
  stopped: Stopped
  /** What the model and its tools said, to go on with. */
  messages: ModelMessage[]
  /** Limits that are near, and what did not go as asked. */
  warnings: string[]
  /** Where that ended it: which limit of the user's, and when it resets. */
  reached?: HostError
  /** What the schemas of the tools lost on their way to the model. */
  lost: LostInTool[]
}

export async function agent(options: AgentOptions): Promise<AgentResult> {
  const { model, output, maxRetries, tokens } = options
  await assertTokensLeft(tokens)
  const messages = messagesOf(options)
  const { prompt, history } = lastPrompt(messages)
  const name = nameOf(model)
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
      // An answer that was cut off fits no schema.
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

export const nameOf = (model: LanguageModel) =>
  typeof model === 'string' ? model : `${model.provider.split('.')[0]}:${model.modelId}`

function messagesOf({ prompt, messages }: AgentOptions): ModelMessage[] {
  if (messages && messages.length > 0) return messages
  if (prompt !== undefined && prompt !== '') return [{ role: 'user', content: prompt }]
  throw new HostError('invalid-input', { detail: 'An agent needs a prompt or messages.' })
}

/** What is asked: the words of the last message of the user, and what was before it. */
const MAX_PROMPT_LENGTH = 100_000
/** Of a long conversation the last messages say what is meant. */
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
