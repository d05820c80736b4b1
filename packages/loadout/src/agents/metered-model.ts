/**
 * Counts the tokens of a model: each request requires remaining tokens, and a cancelled answer is estimated, because
 * the provider does not report its usage.
 */
import { type LanguageModel, type LanguageModelMiddleware, wrapLanguageModel } from 'ai'
import type { TokenMeter } from '../policy/limits/token-limits.ts'

const CHARACTERS_PER_TOKEN = 4
/** Every model can output this much; some reject higher limits than they support. */
const SAFE_OUTPUT = 4096

export function metered(model: LanguageModel, meter: TokenMeter): LanguageModel {
  // A model by name is opened elsewhere.
  return typeof model === 'string'
    ? model
    : wrapLanguageModel({ model: model as never, middleware: countTokens(meter) })
}

/** Caps the output when few tokens remain. */
export const atMost = (remaining: number): { maxOutputTokens?: number } =>
  remaining < SAFE_OUTPUT ? { maxOutputTokens: Math.max(1, remaining) } : {}

function countTokens(meter: TokenMeter): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    async transformParams({ params }) {
      const { left, reached } = await meter.state()
      if (reached) throw reached
      const { maxOutputTokens } = atMost(Math.min(left, params.maxOutputTokens ?? Number.POSITIVE_INFINITY))
      return maxOutputTokens === undefined ? params : { ...params, maxOutputTokens }
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate()
      meter.spend(reportedTokens(result.usage) ?? estimateTokens(params.prompt, textSize(result.content)))
      return result
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream()
      let outputLength = 0
      let isCounted = false
      const count = (tokens: number) => {
        if (!isCounted) meter.spend(tokens)
        isCounted = true
      }
      const countEstimate = () => count(estimateTokens(params.prompt, outputLength))
      const counted = new TransformStream<Part, Part>({
        transform(part, controller) {
          if ('delta' in part) outputLength += part.delta.length
          if (part.type === 'finish') count(reportedTokens(part.usage) ?? estimateTokens(params.prompt, outputLength))
          controller.enqueue(part)
        },
        flush: countEstimate,
        cancel: countEstimate,
      } as Transformer<Part, Part>)
      return { stream: stream.pipeThrough(counted), ...rest }
    },
  }
}

type Streamed = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>
type Part = Streamed['stream'] extends ReadableStream<infer P> ? P : never
type Finish = Extract<Part, { type: 'finish' }>
type Prompt = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0]['params']['prompt']

function reportedTokens({ inputTokens, outputTokens }: Finish['usage']): number | undefined {
  const { total: input } = inputTokens
  const { total: output } = outputTokens
  return input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)
}

/** Files are excluded: their token cost does not depend on their size. */
const textSize = (value: unknown) =>
  JSON.stringify(value, (key, inner: unknown) => (key === 'data' ? undefined : inner)).length

const estimateTokens = (prompt: Prompt, outputLength: number) =>
  Math.ceil((textSize(prompt) + outputLength) / CHARACTERS_PER_TOKEN)
