/**
 * JSON values at run time: kinds, equality by canonical text, and own properties only. A value that JSON cannot
 * represent (NaN, a function, a bigint) has the kind OTHER and matches no schema with a keyword.
 */
import { BudgetExceeded, STEP, type WorkMeter } from './budget.ts'

export type { JsonObject } from '../schema/json.ts'

export const NULL = 0
export const BOOLEAN = 1
export const NUMBER = 2
export const STRING = 3
export const ARRAY = 4
export const OBJECT = 5
export const OTHER_KIND = 6
export const KINDS = 7
export type Kind =
  | typeof NULL
  | typeof BOOLEAN
  | typeof NUMBER
  | typeof STRING
  | typeof ARRAY
  | typeof OBJECT
  | typeof OTHER_KIND

export function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case 'string':
      return STRING
    case 'number':
      return Number.isFinite(value) ? NUMBER : OTHER_KIND
    case 'boolean':
      return BOOLEAN
    case 'object':
      if (value === null) return NULL
      return Array.isArray(value) ? ARRAY : OBJECT
    default:
      return OTHER_KIND
  }
}

/** Own property or undefined: names such as "constructor" never reach a prototype. */
export function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined
}

/** Above about this many keys V8 uses a hash table, and listing keys is many times slower. */
const MANY_KEYS = 1_000

/** Keys that JSON would contain. Charged to the meter, because listing keys cannot be interrupted. */
export function keysOf(object: object, meter: WorkMeter): string[] {
  const keys = Object.keys(object)
  meter.spend(keys.length * (keys.length > MANY_KEYS ? 2 * STEP : 2))
  return keys
}

/** Canonical text: equal values have equal texts in any key order. */
export function canonicalValue(value: unknown, meter: WorkMeter, depth = 0): string {
  meter.spend(3 * STEP)
  if (typeof value === 'string') {
    meter.spend(value.length >> 3)
    return JSON.stringify(value)
  }
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth >= meter.maxDepth)
    throw new BudgetExceeded(`a value to compare is nested deeper than ${meter.maxDepth} levels`)
  if (Array.isArray(value)) return `[${value.map((item) => canonicalValue(item, meter, depth + 1)).join()}]`
  const keys = keysOf(value, meter)
  meter.spend(keys.length * STEP)
  const entries = keys
    .filter((key) => (value as Record<string, unknown>)[key] !== undefined)
    .sort()
    .map(
      (key) =>
        `${canonicalValue(key, meter)}:${canonicalValue((value as Record<string, unknown>)[key], meter, depth + 1)}`,
    )
  return `{${entries.join()}}`
}

/** An unpaired surrogate counts as one code point. */
export function codePoints(text: string, meter: WorkMeter): number {
  meter.spend(text.length >> 3)
  let count = text.length
  for (let i = 0; i + 1 < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--
      i++
    }
  }
  return count
}

/** Whether a number divides another in decimal, not in floating point. */
export function isMultiple(value: number, divisor: number, meter: WorkMeter): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  const a = decimal(value)
  const b = decimal(divisor)
  const exponent = Math.min(a.exponent, b.exponent)
  meter.spend(STEP * (2 + (Math.abs(a.exponent - b.exponent) >> 4)))
  return (a.digits * 10n ** BigInt(a.exponent - exponent)) % (b.digits * 10n ** BigInt(b.exponent - exponent)) === 0n
}

function decimal(value: number): { digits: bigint; exponent: number } {
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
