/**
 * Converts values to JSON that every database accepts: no NUL and no lone surrogates. Programs receive the stored
 * value.
 */
import type { Json } from '../schema/json.ts'

const REFUSED = /\\u0000|\\ud[89a-f]/i

export function toStorableJson(value: unknown): Json {
  const text = JSON.stringify(value ?? null)
  if (text === undefined) return null
  const plain = JSON.parse(text)
  return REFUSED.test(text) ? cleanDeep(plain) : plain
}

function cleanDeep(value: Json): Json {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map(cleanDeep)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), cleanDeep(inner)]))
}

const clean = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD')
