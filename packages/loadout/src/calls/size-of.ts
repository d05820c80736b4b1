import type { JsonObject } from '../schema/json.ts'
import { utf8Size } from './utf8-size.ts'

/** About how many bytes a result has; pictures and sounds by their data. */
export function sizeOf(content: readonly JsonObject[], structuredContent?: unknown): number {
  let size = structuredContent === undefined ? 0 : jsonSizeOf(structuredContent)
  for (const block of content) {
    const text = wordsOf(block)
    size += text === undefined ? jsonSizeOf(block) : utf8Size(text)
  }
  return size
}

/** Whether that is more than so many, without measuring all of what is far more. */
export function isLargerThan(most: number, content: readonly JsonObject[], structuredContent?: unknown): boolean {
  let least = leastSize(structuredContent, most)
  for (const block of content) least += wordsOf(block)?.length ?? 0
  return least > most || sizeOf(content, structuredContent) > most
}

/** What its size is the size of; nothing where that is the whole block. */
function wordsOf({ text, data, resource }: JsonObject): string | undefined {
  const { text: inner, blob } = (resource ?? {}) as JsonObject
  return [text, data, inner, blob].find((value) => typeof value === 'string')
}

/** Its JSON has at least as many; it stops where that is too much. */
function leastSize(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let size = 0
  for (const name in value) {
    size += leastSize((value as JsonObject)[name], most - size)
    if (size > most) break
  }
  return size
}

/** Undefined, as for a function, is nothing. */
const jsonSizeOf = (value: unknown) => utf8Size(JSON.stringify(value) ?? '')
