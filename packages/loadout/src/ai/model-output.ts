import type { Tool } from 'ai'
import { z } from 'zod'
import { outcomeFromJson } from '../calls/records/outcome-json.ts'
import { type JsonObject, jsonObject } from '../schema/json.ts'
import { searchResultNames } from './model-call.ts'
import { isFailure, type ModelResultPart, resultParts } from './result-parts.ts'
import { isVersion6 } from './sdk-version.ts'

/** Outcome in the AI SDK: stored as JSON and converted for the model. */
export type ModelOutput = Awaited<ReturnType<NonNullable<Tool['toModelOutput']>>>

/** Return value of our `execute`; a history may contain other values. */
const storedOutcome = z.looseObject({
  status: z.string(),
  error: jsonObject.optional(),
  content: z.array(jsonObject).optional(),
})

function readOutcome(output: unknown) {
  const read = storedOutcome.safeParse(output)
  const isOurs = read.success && (read.data.error !== undefined || read.data.content !== undefined)
  return isOurs ? outcomeFromJson(output as JsonObject) : undefined
}

export function toModelOutput({ output }: { output: unknown }): ModelOutput {
  const outcome = readOutcome(output)
  if (!outcome) return { type: 'json', value: (output ?? null) as never }
  const parts = resultParts(outcome)
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  if (outcome.status === 'denied') return { type: 'execution-denied', reason: text }
  if (isFailure(outcome)) return { type: 'error-text', value: text }
  if (parts.every(({ type }) => type === 'text')) return { type: 'text', value: text }
  return { type: 'content', value: parts.map(contentOf) }
}

function contentOf(part: ModelResultPart) {
  if (part.type === 'text') return part
  const { mediaType, data, name } = part
  if (isVersion6) return contentOfVersion6(part) as never
  const file = { type: 'file' as const, mediaType, data: { type: 'data' as const, data } }
  return name === undefined ? file : { ...file, filename: name }
}

/** The SDK 6 has one type for images and one for files. */
function contentOfVersion6({ mediaType, data, name }: Extract<ModelResultPart, { type: 'file' }>) {
  if (mediaType.startsWith('image/')) return { type: 'image-data' as const, mediaType, data }
  return { type: 'file-data' as const, mediaType, data, ...(name === undefined ? {} : { filename: name }) }
}

/** Search results as Anthropic tool references; only for deferred tools. */
export function toReferences(output: unknown, waiting: ReadonlySet<string>): ModelOutput {
  const outcome = readOutcome(output)
  const found = outcome ? searchResultNames(outcome).filter((name) => waiting.has(name)) : []
  if (found.length === 0) return toModelOutput({ output })
  return {
    type: 'content',
    value: found.map((toolName) => ({
      type: 'custom',
      providerOptions: { anthropic: { type: 'tool-reference', toolName } },
    })),
  }
}

const referring = z.looseObject({
  providerOptions: z.looseObject({
    anthropic: z.looseObject({ type: z.literal('tool-reference'), toolName: z.string() }),
  }),
})
const reference = z.looseObject({ type: z.literal('tool_reference'), toolName: z.string() })
const result = z.looseObject({
  type: z.literal('tool-result'),
  output: z.looseObject({ value: z.array(z.unknown()) }),
})

/** Tools that AI SDK messages reference, from our search and Anthropic's. */
export function referencedInMessages(messages: readonly { content: unknown }[]): Set<string> {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const values = parts.flatMap((part) => {
    const read = result.safeParse(part)
    return read.success ? read.data.output.value : []
  })
  return new Set(
    values.flatMap((value) => {
      const ours = referring.safeParse(value)
      if (ours.success) return [ours.data.providerOptions.anthropic.toolName]
      const theirs = reference.safeParse(value)
      return theirs.success ? [theirs.data.toolName] : []
    }),
  )
}
