/**
 * Functions and methods of expressions: a closed table, metered. `matches` is missing on purpose, see `evaluate.ts`.
 */

import { canonicalJson, type Json, type JsonObject } from '../../schema/json.ts'
import { ExpressionFault } from './expression-error.ts'
import type { ExpressionMeter } from './meter.ts'

type Call = (args: readonly Json[], meter: ExpressionMeter) => Json

const MAX_JSON = 1_000_000

export const isList = (value: Json): value is Json[] => Array.isArray(value)
export const isMap = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Type name of a value for error messages. */
export function typeOfValue(value: Json): string {
  if (value === null || value === undefined) return 'null'
  if (isList(value)) return 'a list'
  return { string: 'a text', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'an object'
}

const expected = (what: string, got: Json) => new ExpressionFault(`expects ${what}, and got ${typeOfValue(got)}`)

function text(value: Json): string {
  if (typeof value !== 'string') throw expected('a text', value)
  return value
}
function list(value: Json): readonly Json[] {
  if (!isList(value)) throw expected('a list', value)
  return value
}
function map(value: Json): JsonObject {
  if (!isMap(value)) throw expected('an object', value)
  return value
}
function whole(value: Json): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw expected('a whole number', value)
  return value
}

/** Charges the meter for a created text. */
const metered = (value: string, meter: ExpressionMeter): string => {
  meter.text(value.length)
  return value
}

function sizeOf(value: Json, meter: ExpressionMeter): number {
  if (typeof value === 'string') return value.length
  if (isList(value)) return value.length
  if (isMap(value)) return meter.namesOf(value).length
  throw expected('a text, a list or an object', value)
}

/** Converts a value to text: strings unchanged, the rest as JSON. */
export function formatValue(value: Json, meter: ExpressionMeter): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return String(value)
  countValues(value, meter)
  return metered(JSON.stringify(value), meter)
}

/** Charges the meter for all nested values before they are serialized. */
export function countValues(value: Json, meter: ExpressionMeter): void {
  meter.pay(1)
  if (typeof value === 'string') meter.text(value.length)
  else if (isList(value)) for (const inner of value) countValues(inner, meter)
  else if (isMap(value))
    for (const [key, inner] of Object.entries(value)) {
      meter.text(key.length)
      countValues(inner, meter)
    }
}

function number(value: Json, meter: ExpressionMeter): number {
  if (typeof value === 'string') meter.scan(value.length)
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof read !== 'number' || !Number.isFinite(read)) throw expected('a number, or a text that is one', value)
  return read
}

function parseJson(value: Json, meter: ExpressionMeter): Json {
  const source = text(value)
  if (source.length > MAX_JSON) throw new ExpressionFault('is more text than can be read as JSON here')
  meter.text(source.length)
  meter.pay(source.length >> 3)
  try {
    return JSON.parse(source, (key, inner) => (key === '__proto__' ? undefined : inner))
  } catch {
    throw new ExpressionFault('expects a text that is JSON')
  }
}

/** Global functions, such as `size(x)`. */
export const EXPRESSION_FUNCTIONS: Readonly<Record<string, { takes: readonly number[]; call: Call }>> = {
  size: { takes: [1], call: ([value], meter) => sizeOf(value, meter) },
  string: { takes: [1], call: ([value], meter) => formatValue(value, meter) },
  int: { takes: [1], call: ([value], meter) => Math.trunc(number(value, meter)) },
  double: { takes: [1], call: ([value], meter) => number(value, meter) },
  number: { takes: [1], call: ([value], meter) => number(value, meter) },
  bool: { takes: [1], call: ([value]) => (value === 'true' ? true : value === 'false' ? false : value === true) },
  json: {
    takes: [1],
    call: ([value], meter) => {
      countValues(value, meter)
      return metered(JSON.stringify(value ?? null), meter)
    },
  },
  parse_json: { takes: [1], call: ([value], meter) => parseJson(value, meter) },
  keys: {
    takes: [1],
    call: ([value], meter) => {
      const names = meter.namesOf(map(value))
      meter.pay(names.length)
      return [...names]
    },
  },
  values: {
    takes: [1],
    call: ([value], meter) => {
      const entries = Object.values(map(value))
      meter.pay(entries.length)
      return entries
    },
  },
  type: { takes: [1], call: ([value]) => typeOfValue(value).replace(/^an? /, '') },
}

/** Methods, such as `name.startsWith("a")`; the receiver is the first argument. */
export const METHODS: Readonly<Record<string, { takes: readonly number[]; call: Call }>> = {
  size: { takes: [0], call: ([value], meter) => sizeOf(value, meter) },
  contains: {
    takes: [1],
    call: ([value, part], meter) => {
      if (isList(value)) return value.some((item) => isSameValue(item, part, meter))
      return indexOf(value, part, meter) >= 0
    },
  },
  startsWith: {
    takes: [1],
    call: ([value, part], meter) => {
      meter.scan(text(part).length)
      return text(value).startsWith(text(part))
    },
  },
  endsWith: {
    takes: [1],
    call: ([value, part], meter) => {
      meter.scan(text(part).length)
      return text(value).endsWith(text(part))
    },
  },
  lowerAscii: { takes: [0], call: ([value], meter) => metered(text(value).toLowerCase(), meter) },
  upperAscii: { takes: [0], call: ([value], meter) => metered(text(value).toUpperCase(), meter) },
  trim: {
    takes: [0],
    call: ([value], meter) => {
      meter.scan(text(value).length)
      return metered(text(value).trim(), meter)
    },
  },
  indexOf: { takes: [1], call: ([value, part], meter) => indexOf(value, part, meter) },
  substring: {
    takes: [1, 2],
    call: ([value, from, to], meter) =>
      metered(text(value).slice(whole(from), to === undefined ? undefined : whole(to)), meter),
  },
  replace: {
    takes: [2],
    call: ([value, part, by], meter) => {
      const pieces = split(value, part, meter)
      meter.text(text(value).length + pieces.length * text(by).length)
      return pieces.join(text(by))
    },
  },
  split: { takes: [1], call: ([value, by], meter) => split(value, by, meter) },
  join: {
    takes: [0, 1],
    call: ([value, by = ''], meter) => {
      meter.pay(list(value).length)
      const parts = list(value).map((item) => formatValue(item, meter))
      meter.text(parts.reduce((sum, part) => sum + part.length + text(by).length, 0))
      return parts.join(text(by))
    },
  },
  first: { takes: [0], call: ([value]) => list(value)[0] ?? null },
  last: { takes: [0], call: ([value]) => list(value).at(-1) ?? null },
  slice: {
    takes: [1, 2],
    call: ([value, from, to], meter) => {
      const part = list(value).slice(whole(from), to === undefined ? undefined : whole(to))
      meter.pay(part.length)
      return part
    },
  },
  flatten: {
    takes: [0],
    call: ([value], meter) => {
      meter.pay(list(value).length)
      const flat = list(value).flat()
      meter.pay(flat.length)
      return flat
    },
  },
  distinct: {
    takes: [0],
    call: ([value], meter) => {
      const seen = new Map<string, Json>()
      for (const item of list(value)) {
        countValues(item, meter)
        const key = canonicalJson(item ?? null)
        if (!seen.has(key)) seen.set(key, item)
      }
      return [...seen.values()]
    },
  },
  orValue: { takes: [1], call: ([value, other]) => value ?? other },
}

export function noFunction(name: string, count: number, table: typeof EXPRESSION_FUNCTIONS): string {
  if (name === 'matches')
    return 'There are no patterns in expressions. Use contains, startsWith or endsWith, or a code node'
  const fn = Object.hasOwn(table, name) ? table[name] : undefined
  if (fn) return `'${name}' takes ${fn.takes.join(' or ')} arguments, and got ${count}`
  return `There is no function '${name.slice(0, 60)}'. There are: ${Object.keys(table).join(', ')}`
}

function indexOf(value: Json, part: Json, meter: ExpressionMeter): number {
  meter.scan(text(value).length + text(part).length)
  return findText(text(value), text(part))
}

function split(value: Json, by: Json, meter: ExpressionMeter): string[] {
  const whole = text(value)
  const divider = text(by)
  // An empty separator creates one text per character.
  if (divider === '') meter.pay(whole.length)
  else meter.scan(whole.length + divider.length)
  const parts = splitText(whole, divider)
  meter.pay(parts.length)
  return parts
}

/** Deep equality. */
export function isSameValue(a: Json, b: Json, meter: ExpressionMeter): boolean {
  meter.pay(1)
  // Texts of different lengths compare in constant time.
  if (typeof a === 'string' && typeof b === 'string') meter.scan(a.length === b.length ? a.length : 0)
  if (a === b) return true
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, index) => isSameValue(item, b[index], meter))
  if (isMap(a) && isMap(b)) {
    const names = meter.namesOf(a)
    if (names.length !== meter.namesOf(b).length) return false
    return names.every((name) => Object.hasOwn(b, name) && isSameValue(a[name], b[name], meter))
  }
  return (a ?? null) === (b ?? null)
}

/** Below this length the engine's `indexOf` is fast for any pattern. */
const SHORT = 64

/** Like `whole.indexOf(part, from)`, in linear time for any input. */
export function findText(whole: string, part: string, from = 0): number {
  return part.length <= SHORT ? whole.indexOf(part, from) : finder(part)(whole, from)
}

/** Like `whole.split(by)`, in linear time for any input. */
export function splitText(whole: string, by: string): string[] {
  if (by.length <= SHORT) return whole.split(by)
  const find = finder(by)
  const parts: string[] = []
  let from = 0
  for (let at = find(whole, 0); at >= 0; at = find(whole, from)) {
    parts.push(whole.slice(from, at))
    from = at + by.length
  }
  return [...parts, whole.slice(from)]
}

/** Knuth–Morris–Pratt search: never moves backwards in `whole`. */
function finder(part: string): (whole: string, from: number) => number {
  const failureTable = new Uint32Array(part.length)
  for (let at = 1, length = 0; at < part.length; at++) {
    while (length > 0 && part.charCodeAt(at) !== part.charCodeAt(length)) length = failureTable[length - 1] as number
    if (part.charCodeAt(at) === part.charCodeAt(length)) length++
    failureTable[at] = length
  }
  return (whole, from) => {
    for (let at = from, length = 0; at < whole.length; at++) {
      while (length > 0 && whole.charCodeAt(at) !== part.charCodeAt(length)) length = failureTable[length - 1] as number
      if (whole.charCodeAt(at) === part.charCodeAt(length)) length++
      if (length === part.length) return at + 1 - length
    }
    return -1
  }
}
