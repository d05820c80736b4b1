/** A result over the size limit is kept; what goes on is its beginning, a handle, and how to read more. */
import type { AppConfig } from '../schema/app-config.ts'
import type { JsonObject } from '../schema/json.ts'
import type { CallOutcome } from './call.ts'
import type { Stage } from './compose.ts'
import type { Results } from './results.ts'
import { sizeOf } from './size-of.ts'

const PREVIEW = 1200
/** Pictures and sounds are for eyes and ears: they are handed on up to this. */
const BINARY_BYTES = 5 * 1024 * 1024

export function withResults({ results, app }: { results: Results; app: { get(): Promise<AppConfig> } }): Stage {
  return (next) => async (call) => {
    const outcome = await next(call)
    if ('error' in outcome) return outcome
    const { limits } = await app.get()
    if (!isTooLarge(outcome, limits.resultBytes)) return outcome
    const text = textOf(outcome)
    const ref = `${call.stored.toolkit.id}.${call.tool}`
    const kept = await results.keep({ userId: call.userId, callId: call.callId, ref, text })
    const preview = previewOf(text, kept)
    return { status: outcome.status, content: [{ type: 'text', text: preview }], resultHandle: kept.resultId }
  }
}

type Done = Extract<CallOutcome, { content: unknown }>

const isBinary = ({ type }: JsonObject) => type === 'image' || type === 'audio'

function isTooLarge({ content, structuredContent }: Done, most: number): boolean {
  const words = content.filter((block) => !isBinary(block))
  return sizeOf(words, structuredContent) > most || sizeOf(content.filter(isBinary)) > BINARY_BYTES
}

/** One text is kept as it is; anything else as JSON. */
function textOf({ content, structuredContent }: Done): string {
  const [only, second] = content
  if (only?.type === 'text' && second === undefined) return String(only.text ?? '')
  if (structuredContent !== undefined && content.every((block) => block.type === 'text'))
    return JSON.stringify(structuredContent, undefined, 2)
  return JSON.stringify({ content, ...(structuredContent === undefined ? {} : { structuredContent }) }, undefined, 2)
}

function previewOf(text: string, kept: { resultId: string; bytes: number; lines: number; isJson: boolean }): string {
  const beginning = text.slice(0, PREVIEW).replace(/[\uD800-\uDBFF]$/, '')
  const paths = kept.isJson ? ', or a path into its JSON' : ''
  return [
    `The result is too large to show: ${kept.bytes} bytes, ${kept.lines} lines. It begins:`,
    '',
    bytesWithin(beginning, PREVIEW),
    '',
    `Read more with read_result({ handle: "${kept.resultId}" }) and offset and limit, fromLine and lines${paths}.`,
  ].join('\n')
}

/** In bytes, because that is what the limit is in. */
function bytesWithin(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text)
  return bytes.length <= most ? text : new TextDecoder().decode(bytes.slice(0, most)).replace(/\uFFFD+$/, '')
}
