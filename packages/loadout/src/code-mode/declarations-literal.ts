/** JSON values as types that have that one value. */
import { isIdentifier, quoted } from './code-names.ts'

const LONGEST = 200
const MOST_PARTS = 24
const DEEPEST = 3

/** Undefined where it is too large, or nothing that JSON has. */
export function literalOf(value: unknown, depth = 0): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (typeof value === 'string') return value.length <= LONGEST ? quoted(value) : undefined
  if (typeof value !== 'object' || depth >= DEEPEST) return undefined
  const parts = Array.isArray(value) ? value : Object.entries(value)
  if (parts.length > MOST_PARTS) return undefined
  const texts = Array.isArray(value)
    ? value.map((one) => literalOf(one, depth + 1))
    : Object.entries(value).map(([key, one]) => {
        const text = literalOf(one, depth + 1)
        return text === undefined || key.length > LONGEST ? undefined : `${keyOf(key)}: ${text}`
      })
  if (texts.includes(undefined)) return undefined
  if (Array.isArray(value)) return `[${texts.join(', ')}]`
  return texts.length === 0 ? '{}' : `{ ${texts.join('; ')} }`
}

/** The name of a property, quoted where it must be. */
export const keyOf = (name: string): string => (isIdentifier(name) ? name : quoted(name))
