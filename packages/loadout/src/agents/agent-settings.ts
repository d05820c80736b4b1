/** What one generation is given, whether it is waited for or streamed: tools, steps, and where it ends. */
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

/** What an operator allows one answer. Who asks may want less, and never has more. */
export interface ResponseLimits {
  maxSteps?: number | undefined
  budget?: number | undefined
}

export interface GenerationLimits {
  /** How often the model may be asked. @default 10 */
  maxSteps?: number | undefined
  /** Tokens in all, of what the model is sent and of what it says. It ends with the step that meets it. @default none */
  budget?: number | undefined
  /** The most of both, as `models.open` gives it. @default no more than is asked for */
  ceiling?: ResponseLimits | undefined
  /** Further conditions to end it. */
  stop?: StopCondition<ToolSet> | readonly StopCondition<ToolSet>[] | undefined
  /** What is left of who asks, as `models.open` gives it: it ends with the step that leaves nothing. @default no limit */
  tokens?: TokenMeter | undefined
}

export interface GenerationInput extends GenerationLimits {
  model: LanguageModel
  messages: ModelMessage[]
  system?: string | undefined
  selection: CallableSelection
  form?: Omit<ToAIOptions, 'provider' | 'messages'> | undefined
  signal?: AbortSignal | undefined
  /** Told before each step, with what it shows. */
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
    /** What the schemas of these tools lost on their way to this model. */
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

/** As each takes them through the AI SDK. */
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
  // The provider held it back; what is empty is no answer, whatever it is called.
  if (reason === 'content-filter' || reason === 'error') return 'refused'
  if (reason !== 'tool-calls' && reason !== 'length' && text.trim() === '') return 'refused'
  if (reason !== 'tool-calls' && reason !== 'length') return 'done'
  if (budget !== undefined && totalOf(steps) >= budget) return 'budget'
  if (reached) return 'limit'
  // It said as much as it can at once, and was not done.
  if (reason === 'length') return 'length'
  return steps.length >= maxSteps ? 'max-steps' : 'stop'
}

/** What holds: what is asked for, within what is allowed. */
function boundsOf({ maxSteps = DEFAULT_STEPS, budget, ceiling = {} }: GenerationLimits) {
  return { maxSteps: least(ceiling.maxSteps, maxSteps) ?? maxSteps, budget: least(ceiling.budget, budget) }
}

/** Which limit ended an answer, of whom it is said, and who can raise it. */
export function describeLimit(stopped: Stopped, limits: GenerationLimits, subject: string): LimitText | undefined {
  const bounds = boundsOf(limits)
  const { maxSteps, budget } = bounds
  // What it wants itself is of no use to raise where the operator allows no more.
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

/** Who has none left is refused before anything is asked. */
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

/** Whose limits of tools hold. */
export function limitsOf(model: LanguageModel): LimitedProvider | undefined {
  const provider = typeof model === 'string' ? model : model.provider
  if (provider.startsWith('anthropic')) return 'anthropic'
  if (provider.startsWith('google')) return 'google'
  if (provider.startsWith('openai.responses')) return 'openai-responses'
  return provider.startsWith('openai') ? 'openai-chat' : undefined
}
