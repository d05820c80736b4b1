import { isIdentifier, quoted } from '../function-names.ts'

/** Combines type texts with correct precedence and without duplicates. */

export interface Text {
  text: string
  /** Decides whether the text needs parentheses. */
  form: 'atom' | 'union' | 'intersection'
  /** Number of union members. */
  size: number
}

export const atom = (text: string): Text => ({ text, form: 'atom', size: 1 })
export const UNKNOWN_TYPE: Text = atom('unknown')
export const NEVER_TYPE: Text = atom('never')

/** TypeScript fails at 100,000 union members; readers give up sooner. */
const MAX_ALTERNATIVES = 1_000

export const inBrackets = ({ text, form }: Text): string => (form === 'atom' ? text : `(${text})`)

export function or(parts: readonly Text[]): Text {
  const different = distinct(parts).filter((part) => part.text !== 'never')
  if (different.some((part) => part.text === 'unknown')) return UNKNOWN_TYPE
  if (different.length <= 1) return different[0] ?? (parts.length === 0 ? UNKNOWN_TYPE : NEVER_TYPE)
  return {
    text: different.map((part) => (part.form === 'intersection' ? inBrackets(part) : part.text)).join(' | '),
    form: 'union',
    size: different.reduce((sum, { size }) => sum + size, 0),
  }
}

export function intersection(parts: readonly Text[]): Text {
  const different = distinct(parts).filter((part) => part.text !== 'unknown')
  if (different.some((part) => part.text === 'never')) return NEVER_TYPE
  let size = 1
  // Omitting a part widens the type, which is still correct.
  const fitting = different.filter((part) => {
    if (size * part.size > MAX_ALTERNATIVES) return false
    size *= part.size
    return true
  })
  if (fitting.length <= 1) return fitting[0] ?? UNKNOWN_TYPE
  return {
    text: fitting.map((part) => (part.form === 'union' ? inBrackets(part) : part.text)).join(' & '),
    form: 'intersection',
    size,
  }
}

export const arrayOf = (item: Text): Text => atom(`${inBrackets(item)}[]`)

export interface TupleRest {
  /** Min number of items. */
  least: number
  rest: Text | undefined
}

export function tupleOf(items: readonly Text[], { least, rest }: TupleRest): Text {
  const all = items.map((item, index) => (index < least ? item.text : `${inBrackets(item)}?`))
  if (rest) all.push(`...${inBrackets(rest)}[]`)
  return atom(`[${all.join(', ')}]`)
}

function distinct(parts: readonly Text[]): Text[] {
  return [...new Map(parts.map((part) => [part.text, part])).values()]
}

const MAX_LENGTH = 200
const MAX_PARTS = 24
const MAX_DEPTH = 3

/** Literal type of a JSON value; undefined if it is too large or no JSON. */
export function literalOf(value: unknown, depth = 0): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (typeof value === 'string') return value.length <= MAX_LENGTH ? quoted(value) : undefined
  if (typeof value !== 'object' || depth >= MAX_DEPTH) return undefined
  const parts = Array.isArray(value) ? value : Object.entries(value)
  if (parts.length > MAX_PARTS) return undefined
  const texts = Array.isArray(value)
    ? value.map((one) => literalOf(one, depth + 1))
    : Object.entries(value).map(([key, one]) => {
        const text = literalOf(one, depth + 1)
        return text === undefined || key.length > MAX_LENGTH ? undefined : `${propertyKeyOf(key)}: ${text}`
      })
  if (texts.includes(undefined)) return undefined
  if (Array.isArray(value)) return `[${texts.join(', ')}]`
  return texts.length === 0 ? '{}' : `{ ${texts.join('; ')} }`
}

/** Property name, quoted if needed. */
export const propertyKeyOf = (name: string): string => (isIdentifier(name) ? name : quoted(name))
