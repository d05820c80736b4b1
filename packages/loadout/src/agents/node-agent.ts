/**
 * Runs workflow agent nodes. Model responses are stored before they are used and each call is a step, so an agent that
 * resumes replays the same responses and repeats no call.
 */
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModelMiddleware,
  Output,
  type StepResult,
  type ToolSet,
  wrapLanguageModel,
} from 'ai'
import { HostError } from '../errors.ts'
import { least } from '../policy/limits/usage.ts'
import type { Json, JsonObject } from '../schema/json.ts'
import { sleep } from '../util/abort.ts'
import type { Agent, AgentRequest } from '../workflow/agent.ts'
import { describeLimit, type GenerationLimits, settingsOf, stoppedBy, usedOf } from './agent-settings.ts'
import { modelFailure } from './model-failure.ts'
import type { Models, OpenModel } from './models.ts'
import { lossWarnings } from './selection-data.ts'

export interface NodeAgentOptions {
  models: Pick<Models, 'open'> & Partial<Pick<Models, 'ceiling'>>
  /** Maximum tokens per node. @default none */
  budget?: number | undefined
}

/** Prompt length for tool selection. */
const MAX_PROMPT_LENGTH = 100_000

export function nodeAgent({ models, budget }: NodeAgentOptions): Agent {
  const run: Agent = async (request) => {
    const opened = await models.open(request.userId, request.model, { threadId: request.threadId })
    if (typeof opened.model === 'string')
      throw new HostError('model-unavailable', { detail: 'The model is only a name.' })
    const model = wrapLanguageModel({ model: opened.model as never, middleware: recordResponses(request, opened) })
    const ceiling = { ...opened.ceiling, budget: least(opened.ceiling.budget, budget) }
    const limits = { maxSteps: request.maxSteps, budget: request.budget, ceiling }
    const { prompt, signal, system } = request
    const selection = await request.resolve({ prompt: prompt.slice(0, MAX_PROMPT_LENGTH), model: opened.name })
    const { settings, warnings, lostIn } = settingsOf({
      ...limits,
      model,
      signal,
      system,
      selection,
      messages: [{ role: 'user', content: prompt }],
    })
    try {
      const { output } = request
      const result = await generateText({
        ...settings,
        // Responses are stored, so retries happen inside the middleware.
        maxRetries: 0,
        ...(output ? { output: Output.object({ schema: jsonSchema(output) }) } : {}),
      })
      assertDone(result.steps, { ...limits, node: request.node })
      const { inputTokens, outputTokens } = usedOf(result.usage)
      return {
        output: output ? (result.output as Json) : result.text,
        usage: { inputTokens, outputTokens, modelSteps: result.steps.length },
        warnings: [...selection.warnings, ...warnings, ...lossWarnings(lostIn(selection.next()))],
      }
    } catch (error) {
      throw modelFailure(error, opened)
    }
  }
  const problem: Agent['problem'] = (userId, model) =>
    models.open(userId, model).then(
      () => undefined,
      (error: unknown) => HostError.from(error),
    )
  const ceiling: Agent['ceiling'] = async () => {
    const base = await models.ceiling?.()
    return { ...base, budget: least(base?.budget, budget) }
  }
  return Object.assign(run, { problem, ceiling })
}

/** An incomplete answer must not count as complete. */
function assertDone(
  steps: readonly StepResult<ToolSet>[],
  { node, ...limits }: GenerationLimits & { node: string },
): void {
  const stopped = stoppedBy(steps, limits)
  if (stopped === 'done') return
  if (stopped === 'refused') throw noAnswer(node, steps.at(-1)?.finishReason)
  const subject = `The agent of '${node}'`
  const cutOff = {
    detail: `The answer of the agent of '${node}' was cut off: it was longer than the model says at once.`,
    action: 'Ask for less.',
  }
  throw new HostError('limit-reached', describeLimit(stopped, limits, subject) ?? cutOff)
}

const noAnswer = (node: string, reason = 'nothing') =>
  new HostError('model-failed', {
    detail: `The model of the agent of '${node}' gave no answer; its provider says: ${reason}.`,
    action: 'Ask in other words, or ask another model.',
  })

type Generated = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapGenerate']>>>

/** Stores each model response under its number, and replays it on resume. */
function recordResponses(request: AgentRequest, opened: OpenModel): LanguageModelMiddleware {
  let requestCount = 0
  return {
    specificationVersion: 'v4',
    async wrapGenerate({ doGenerate }) {
      const recorded = await request.remember(`model-${requestCount++}`, async () => {
        const answer = await withRetries(doGenerate, request.signal).catch((error: unknown) => {
          throw modelFailure(error, opened)
        })
        const { content, finishReason, usage, providerMetadata } = answer
        return toJson({ content, finishReason, usage, providerMetadata })
      })
      const generated = recorded as unknown as Omit<Generated, 'warnings'>
      const { inputTokens, outputTokens } = generated.usage
      request.spend({ inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0, modelSteps: 1 })
      return { ...generated, warnings: [] }
    },
  }
}

const MAX_ATTEMPTS = 3
const FIRST_PAUSE_MS = 500

/** Retries a busy provider with exponential backoff. */
async function withRetries<T>(generate: () => PromiseLike<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await generate()
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || signal.aborted || !APICallError.isInstance(error) || !error.isRetryable)
        throw error
      await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), { keepAlive: true })
    }
}

/** Converts to JSON: bytes become base64, which the SDK also accepts. */
const toJson = (value: object): JsonObject =>
  JSON.parse(
    JSON.stringify(value, (_, inner: unknown) =>
      inner instanceof Uint8Array ? btoa(Array.from(inner, (byte) => String.fromCharCode(byte)).join('')) : inner,
    ),
  ) as JsonObject
