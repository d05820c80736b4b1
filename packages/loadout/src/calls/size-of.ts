import type { JsonObject } from '../schema/json.ts'

/** About how many characters a result has; pictures and sounds by their data. */
export function sizeOf(content: readonly JsonObject[], structuredContent?: unknown): number {
  let size = structuredContent === undefined ? 0 : JSON.stringify(structuredContent).length
  for (const block of content) size += blockSize(block)
  return size
}

function blockSize(block: JsonObject): number {
  const { text, data, resource } = block
  if (typeof text === 'string') return text.length
  if (typeof data === 'string') return data.length
  const { text: inner, blob } = (resource ?? {}) as JsonObject
  if (typeof inner === 'string' || typeof blob === 'string') return String(inner ?? blob).length
  return JSON.stringify(block).length
}
