/** Settings of one generation, waited for or streamed: tools, steps and stop conditions. */
import type { LanguageModel, LanguageModelUsage, ModelMessage, StepResult, StopCondition, ToolSet } from 'ai'
import { isStepCount } from 'ai'
import type { LimitedProvider } from '../ai/limits.ts'
import { type LostInTool, lostIn } from '../ai/schema/form-schema.ts'
import type { SchemaProvider } from '../ai/schema/schema-rules.ts'
import { type CallableSelection, type ToAIOptions, toAI } from '../ai/to-ai.ts'
import type { HostError } from '../errors.ts'
import type { TokenMeter } from '../policy/limits/token-limits.ts'
import { least } from '../policy/limits/usage.ts'
import { atMost } from './metered-model.ts'

/** Operator limits per answer. A caller may request less. */
export interface ResponseLimits {
  maxSteps?: number | undefined
  budget?: number | undefined
}

export interface GenerationLimits {
  /** Maximum model requests. @default 10 */
  maxSteps?: number | undefined
  /** Total tokens of input and output. The generation ends with the step that reaches it. @default none */
  budget?: number | undefined
  /** Upper limits of both, from `models.open`. @default none */
  ceiling?: ResponseLimits | undefined
  /** Additional stop conditions. */
  stop?: StopCondition<ToolSet> | readonly StopCondition<ToolSet>[] | undefined
  /**
   * Remaining tokens of the user, from `models.open`: the generation ends with the step that uses them up. @default no
   * limit
   */
  tokens?: TokenMeter | undefined
}

export interface GenerationInput extends GenerationLimits {
  model: LanguageModel
  messages: ModelMessage[]
  system?: string | undefined
  selection: CallableSelection
  form?: Omit<ToAIOptions, 'provider' | 'messages'> | undefined
  signal?: AbortSignal | undefined
  /** Called before each step with its active tools. */
  onStep?: ((step: number, active: readonly string[]) => void) | undefined
}

export const DEFAULT_STEPS = 10

export function settingsOf(input: GenerationInput) {
  const { model, messages, selection, signal } = input
  const { maxSteps, budget } = boundsOf(input)
  const provider = limitsOf(model)
  const schemas = provider && SCHEMA_FORMS[provider]
  const form = toAI(selection, { ...input.form, messages, schemas, ...(provider ? { provider } : {}) })
  const { tools, toolApproval, warnings } = form
  const instructions = [input.system, form.instructions].filter((text) => text !== undefined).join('\n\n')
  const stops = [input.stop ?? []].flat() as StopCondition<ToolSet>[]
  const isSpent: StopCondition<ToolSet> = ({ steps }) => budget !== undefined && totalOf(steps) >= budget
  const hasNoTokensLeft: StopCondition<ToolSet> = async () => (await input.tokens?.state())?.reached !== undefined
  return {
    warnings,
    /** Schema losses of these tools for this model. */
    lostIn: ({ tools }: Pick<CallableSelection, 'tools'>): LostInTool[] =>
      lostIn(
        tools.map(({ entry }) => entry),
        schemas,
      ),
    settings: {
      model,
      messages,
      tools,
      ...(toolApproval ? { toolApproval } : {}),
      ...(instructions === '' ? {} : { instructions }),
      ...(signal ? { abortSignal: signal } : {}),
      stopWhen: [isStepCount(maxSteps), isSpent, hasNoTokensLeft, ...stops],
      prepareStep: ({ steps, stepNumber }: { steps: StepResult<ToolSet>[]; stepNumber: number }) => {
        const { activeTools = Object.keys(tools) } = form.prepareStep?.() ?? form
        input.onStep?.(stepNumber, activeTools)
        return { activeTools, ...atMost(budget === undefined ? Number.POSITIVE_INFINITY : budget - totalOf(steps)) }
      },
    },
  }
}

/** Schema form per provider of the AI SDK. */
const SCHEMA_FORMS: Readonly<Record<LimitedProvider, SchemaProvider>> = {
  anthropic: 'anthropic',
  google: 'gemini-json',
  'openai-responses': 'openai',
  'openai-chat': 'openai',
}

/** Why a generation ended. */
export type Stopped = 'done' | 'refused' | 'max-steps' | 'budget' | 'limit' | 'length' | 'stop'

export function stoppedBy(
  steps: readonly StepResult<ToolSet>[],
  { reached, ...limits }: GenerationLimits & { reached?: HostError | undefined },
): Stopped {
  const { maxSteps, budget } = boundsOf(limits)
  const { finishReason: reason, text = '' } = steps.at(-1) ?? {}
  // The provider withheld the answer; an empty text is no answer either.
  if (reason === 'content-filter' || reason === 'error') return 'refused'
  if (reason !== 'tool-calls' && reason !== 'length' && text.trim() === '') return 'refused'
  if (reason !== 'tool-calls' && reason !== 'length') return 'done'
  if (budget !== undefined && totalOf(steps) >= budget) return 'budget'
  if (reached) return 'limit'
  // The answer reached the model's output limit.
  if (reason === 'length') return 'length'
  return steps.length >= maxSteps ? 'max-steps' : 'stop'
}

/** Requested limits within the ceiling. */
function boundsOf({ maxSteps = DEFAULT_STEPS, budget, ceiling = {} }: GenerationLimits) {
  return { maxSteps: least(ceiling.maxSteps, maxSteps) ?? maxSteps, budget: least(ceiling.budget, budget) }
}

/** Text for the limit that ended an answer, and who can raise it. */
export function describeLimit(stopped: Stopped, limits: GenerationLimits, subject: string): LimitText | undefined {
  const bounds = boundsOf(limits)
  const { maxSteps, budget } = bounds
  // When the operator's ceiling applies, raising the own limit does not help.
  const raise = (name: 'maxSteps' | 'budget', setting: string) =>
    bounds[name] === limits.ceiling?.[name]
      ? `Ask for less, or ask the operator for a higher ${setting}.`
      : `Raise "${name}", or ask for less.`
  if (stopped === 'budget')
    return {
      detail: `${subject} used its budget of ${budget} tokens before it had an answer.`,
      action: raise('budget', 'maxTokensPerAnswer'),
    }
  if (stopped !== 'max-steps') return undefined
  return {
    detail: `${subject} had no answer after ${maxSteps} steps.`,
    action: raise('maxSteps', 'maxStepsPerAnswer'),
  }
}

interface LimitText {
  detail: string
  action: string
}

/** Rejects before the first request when no tokens are left. */
export async function assertTokensLeft(tokens: TokenMeter | undefined): Promise<void> {
  const { reached } = (await tokens?.state()) ?? {}
  if (reached) throw reached
}

export interface TokensUsed {
  inputTokens: number
  outputTokens: number
  totalTokens: number
}

export const usedOf = ({ inputTokens = 0, outputTokens = 0 }: LanguageModelUsage): TokensUsed => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
})

const totalOf = (steps: readonly StepResult<ToolSet>[]) =>
  steps.reduce((sum, { usage }) => sum + usedOf(usage).totalTokens, 0)

/** Provider whose tool limits apply. */
export function limitsOf(model: LanguageModel): LimitedProvider | undefined {
  const provider = typeof model === 'string' ? model : model.provider
  if (provider.startsWith('anthropic')) return 'anthropic'
  if (provider.startsWith('google')) return 'google'
  if (provider.startsWith('openai.responses')) return 'openai-responses'
  return provider.startsWith('openai') ? 'openai-chat' : undefined
}
