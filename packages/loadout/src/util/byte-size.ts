import type { JsonObject } from '../schema/json.ts'

/** How many bytes a text has in UTF-8, without making them: nothing costs a short text less, and nothing is held of a long one. */
export function utf8Size(text: string): number {
  let size = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    size += code < 0x800 ? 1 : 2
    // Its other half is counted with it: both together are four bytes.
    if (isHigh(code) && isLow(text.charCodeAt(at + 1))) at++
  }
  return size
}

const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** About how many bytes a result has; pictures and sounds by their data. */
export function contentSize(content: readonly JsonObject[], structuredContent?: unknown): number {
  let size = structuredContent === undefined ? 0 : jsonSizeOf(structuredContent)
  for (const block of content) {
    const text = payloadText(block)
    size += text === undefined ? jsonSizeOf(block) : utf8Size(text)
  }
  return size
}

/** Whether that is more than so many, without measuring all of what is far more. */
export function isLargerThan(maxBytes: number, content: readonly JsonObject[], structuredContent?: unknown): boolean {
  let lowerBound = minSize(structuredContent, maxBytes)
  for (const block of content) lowerBound += payloadText(block)?.length ?? 0
  return lowerBound > maxBytes || contentSize(content, structuredContent) > maxBytes
}

/** What its size is the size of; nothing where that is the whole block. */
function payloadText({ text, data, resource }: JsonObject): string | undefined {
  const { text: inner, blob } = (resource ?? {}) as JsonObject
  return [text, data, inner, blob].find((value) => typeof value === 'string')
}

/** Its JSON has at least as many; it stops where that is too much. */
function minSize(value: unknown, maxBytes: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let size = 0
  for (const name in value) {
    size += minSize((value as JsonObject)[name], maxBytes - size)
    if (size > maxBytes) break
  }
  return size
}

/** Undefined, as for a function, is nothing. */
const jsonSizeOf = (value: unknown) => utf8Size(JSON.stringify(value) ?? '')

/**
 * About how many characters a value takes as JSON, without making it. Escapes are not counted, and beyond so many values
 * it is a lower bound: it stands on the way of every call.
 */
const MAX_VALUES = 20_000

export function jsonSize(value: unknown): number {
  let remaining = MAX_VALUES
  const measure = (inner: unknown): number => {
    if (typeof inner === 'string') return inner.length + 2
    if (typeof inner === 'number') return inner < 10 && inner >= 0 ? 1 : String(inner).length
    if (typeof inner !== 'object' || inner === null) return inner === undefined ? 0 : 5
    let size = 2
    for (const name in inner) {
      if (remaining-- <= 0) break
      const element = (inner as Record<string, unknown>)[name]
      size += measure(element) + 1 + (Array.isArray(inner) ? 0 : name.length + 3)
    }
    return size
  }
  try {
    return measure(value)
  } catch {
    // Deeper than the stack; the validation before this refuses such a value.
    return 0
  }
}
