import type { JsonObject } from '../schema/json.ts'
import { utf8Size } from './utf8-size.ts'

/** About how many bytes a result has; pictures and sounds by their data. */
export function sizeOf(content: readonly JsonObject[], structuredContent?: unknown): number {
  let size = structuredContent === undefined ? 0 : jsonSizeOf(structuredContent)
  for (const block of content) size += blockSize(block)
  return size
}

function blockSize(block: JsonObject): number {
  const { text, data, resource } = block
  if (typeof text === 'string') return utf8Size(text)
  // Base64, which is ASCII.
  if (typeof data === 'string') return data.length
  const { text: inner, blob } = (resource ?? {}) as JsonObject
  if (typeof inner === 'string') return utf8Size(inner)
  return typeof blob === 'string' ? blob.length : jsonSizeOf(block)
}

/** Undefined, as for a function, is nothing. */
const jsonSizeOf = (value: unknown) => utf8Size(JSON.stringify(value) ?? '')
