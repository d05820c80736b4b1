import type { JsonObject } from '../schema/json.ts'

/** UTF-8 length of a text in bytes, without encoding it. */
export function utf8Size(text: string): number {
  let size = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    size += code < 0x800 ? 1 : 2
    // A surrogate pair is four bytes; the second half is counted here.
    if (isHigh(code) && isLow(text.charCodeAt(at + 1))) at++
  }
  return size
}

const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** Approximate size of a result in bytes; images and audio by their data. */
export function contentSize(content: readonly JsonObject[], structuredContent?: unknown): number {
  let size = structuredContent === undefined ? 0 : jsonSizeOf(structuredContent)
  for (const block of content) {
    const text = payloadText(block)
    size += text === undefined ? jsonSizeOf(block) : utf8Size(text)
  }
  return size
}

/** Whether the result is larger than `maxBytes`. Does not measure all of a much larger result. */
export function isLargerThan(maxBytes: number, content: readonly JsonObject[], structuredContent?: unknown): boolean {
  let lowerBound = minSize(structuredContent, maxBytes)
  for (const block of content) lowerBound += payloadText(block)?.length ?? 0
  return lowerBound > maxBytes || contentSize(content, structuredContent) > maxBytes
}

/** The text that determines the size of a block, or undefined when the whole block does. */
function payloadText({ text, data, resource }: JsonObject): string | undefined {
  const { text: inner, blob } = (resource ?? {}) as JsonObject
  return [text, data, inner, blob].find((value) => typeof value === 'string')
}

/** Lower bound of the JSON length; stops once it exceeds `maxBytes`. */
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

/** `JSON.stringify` returns undefined for functions. */
const jsonSizeOf = (value: unknown) => utf8Size(JSON.stringify(value) ?? '')

/**
 * Approximate JSON length of a value in characters, without serializing it. Ignores escapes, and is a lower bound
 * beyond `MAX_VALUES`, because it runs in every call.
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
    // Too deep for the stack; earlier validation rejects such values.
    return 0
  }
}
