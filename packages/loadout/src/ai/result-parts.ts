/** Converts an outcome to parts for a model. Files that it cannot read become a description. */
import { z } from 'zod'
import type { CallOutcome } from '../calls/call.ts'
import type { JsonObject } from '../schema/json.ts'

export type ModelResultPart =
  | { type: 'text'; text: string }
  /** Base64. */
  | { type: 'file'; mediaType: string; data: string; name?: string }

const media = z.looseObject({ data: z.string(), mimeType: z.string().max(200) })
const text = z.looseObject({ text: z.string() })
const blob = z.looseObject({ blob: z.string(), mimeType: z.string().max(200).optional(), uri: z.string().optional() })
const link = z.looseObject({ uri: z.string(), name: z.string().optional(), description: z.string().optional() })

export const isFailure = (outcome: CallOutcome) => outcome.status !== 'ok'

export function resultParts(outcome: CallOutcome): ModelResultPart[] {
  if ('error' in outcome) {
    const { message, action } = outcome.error
    return [{ type: 'text', text: `${message} ${action}` }]
  }
  const { content, structuredContent } = outcome
  if (content.length > 0) return content.map(partOf)
  // The result is never empty.
  return [{ type: 'text', text: structuredContent === undefined ? 'Done.' : JSON.stringify(structuredContent) }]
}

function partOf(block: JsonObject): ModelResultPart {
  const asIs: ModelResultPart = { type: 'text', text: JSON.stringify(block) }
  if (block.type === 'text') return textPart(text.safeParse(block)) ?? asIs
  if (block.type === 'image' || block.type === 'audio') {
    const read = media.safeParse(block)
    return read.success ? { type: 'file', mediaType: read.data.mimeType, data: read.data.data } : asIs
  }
  if (block.type === 'resource') return textPart(text.safeParse(block.resource)) ?? blobPart(block.resource) ?? asIs
  if (block.type !== 'resource_link') return asIs
  const read = link.safeParse(block)
  if (!read.success) return asIs
  const { name, uri, description } = read.data
  return { type: 'text', text: [name, uri, description].filter((word) => word !== undefined).join('\n') }
}

const textPart = (read: { success: boolean; data?: { text: string } | undefined }): ModelResultPart | undefined =>
  read.success && read.data ? { type: 'text', text: read.data.text } : undefined

function blobPart(resource: unknown): ModelResultPart | undefined {
  const read = blob.safeParse(resource)
  if (!read.success) return undefined
  const { blob: data, mimeType = 'application/octet-stream', uri } = read.data
  const name = uri?.split('/').at(-1)
  return { type: 'file', mediaType: mimeType, data, ...(name ? { name } : {}) }
}

/** Result for a provider-run program: JSON when there is structured content, else text. */
export function valueText(outcome: CallOutcome): string {
  const isValue = outcome.status === 'ok' && outcome.resultHandle === undefined
  if (isValue && outcome.structuredContent !== undefined) return JSON.stringify(outcome.structuredContent)
  return partText(resultParts(outcome))
}

export const partText = (parts: readonly ModelResultPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.text : filePlaceholder(part))).join('\n')

/** For models that cannot read the file. */
export const filePlaceholder = ({ mediaType, data, name }: Extract<ModelResultPart, { type: 'file' }>): string =>
  `[${name ? `${name}, ` : ''}${mediaType}, about ${Math.ceil((data.length * 3) / 4 / 1024)} KB, cannot be shown here]`
