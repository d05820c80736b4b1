/** Array keywords: prefixItems, items, additionalItems, contains, minItems, maxItems, uniqueItems. */
import { STEP } from '../budget.ts'
import { ARRAY, canonicalValue } from '../json-value.ts'
import { count } from '../messages.ts'
import {
  ALWAYS,
  and,
  type Check,
  INVALID,
  UNKNOWN_VERDICT,
  VALID,
  type ValidationRun,
  type ValidationVerdict,
} from '../run.ts'
import type { SchemaCompiler } from '../schema-compiler.ts'

export function items(compiler: SchemaCompiler): void {
  const { prefix, rest } = readItems(compiler)
  if (prefix.length === 0 && rest === undefined) return
  compiler.on(ARRAY, (value, run) => {
    const array = value as unknown[]
    let verdict: ValidationVerdict = VALID
    const end = rest === undefined || rest === ALWAYS ? Math.min(prefix.length, array.length) : array.length
    for (let i = 0; i < end; i++) {
      verdict = and(verdict, run.descend(prefix[i] ?? (rest as Check), array[i], i))
      if (verdict === INVALID && !run.wantsMore) return INVALID
    }
    if (run.evaluated && rest !== undefined) run.evaluated.allItems = true
    else if (run.evaluated) run.evaluated.itemsUpTo = Math.max(run.evaluated.itemsUpTo, end)
    return verdict
  })
}

/** Draft 7: the prefix is an array in `items`, and the rest is `additionalItems`. */
function readItems(compiler: SchemaCompiler): { prefix: Check[]; rest: Check | undefined } {
  if (!compiler.has('prefixItems') && Array.isArray(compiler.get('items')))
    return { prefix: compiler.checks('items') ?? [], rest: compiler.check('additionalItems') }
  return { prefix: compiler.checks('prefixItems') ?? [], rest: compiler.check('items') }
}

export function contains(compiler: SchemaCompiler): void {
  const check = compiler.check('contains')
  const min = compiler.count('minContains') ?? 1
  const max = compiler.count('maxContains') ?? Number.POSITIVE_INFINITY
  if (!check) return
  compiler.on(ARRAY, (value, run) => {
    const array = value as unknown[]
    const { sure, maybe } = countMatches(check, array, {
      run,
      enough: max === Number.POSITIVE_INFINITY ? min : max + 1,
    })
    if (sure > max)
      return run.fail(() => `must have at most ${count(max, 'item')} that the schema under "contains" allows`)
    if (sure + maybe < min)
      return run.fail(() => `must have at least ${count(min, 'item')} that the schema under "contains" allows`)
    return sure >= min && sure + maybe <= max ? VALID : UNKNOWN_VERDICT
  })
}

function countMatches(
  check: Check,
  array: readonly unknown[],
  { run, enough }: { run: ValidationRun; enough: number },
) {
  let sure = 0
  let maybe = 0
  for (let i = 0; i < array.length; i++) {
    // With unevaluatedItems above, every match counts as evaluated, so all items must be checked.
    if (sure >= enough && !run.evaluated) break
    const verdict = run.reporting(undefined, () => run.descend(check, array[i], i))
    if (verdict === VALID) {
      sure++
      run.evaluated?.item(i, run)
    } else if (verdict === UNKNOWN_VERDICT) {
      maybe++
      if (run.evaluated) run.evaluated.incomplete = true
    }
  }
  return { sure, maybe }
}

export function itemCounts(compiler: SchemaCompiler): void {
  const min = compiler.count('minItems')
  const max = compiler.count('maxItems')
  if (min !== undefined)
    compiler.on(ARRAY, (value, run) =>
      (value as unknown[]).length >= min ? VALID : run.fail(() => `must have at least ${count(min, 'item')}`),
    )
  if (max !== undefined)
    compiler.on(ARRAY, (value, run) =>
      (value as unknown[]).length <= max ? VALID : run.fail(() => `must have at most ${count(max, 'item')}`),
    )
  const unique = compiler.get('uniqueItems')
  if (unique === true) compiler.on(ARRAY, uniqueItems)
  else if (unique !== undefined && unique !== false) compiler.wrong('uniqueItems', 'must be true or false')
}

/** V8 hashes only texts up to about this length; longer ones are compared and charged. */
const LONG = 8_192

const uniqueItems: Check = (value, run) => {
  const array = value as unknown[]
  const simple = new Map<unknown, number>()
  const long: { text: string; index: number }[] = []
  for (let i = 0; i < array.length; i++) {
    const item = array[i]
    run.spend(STEP)
    // The prefix separates the text of an array from an equal string.
    const key =
      typeof item === 'object' && item !== null
        ? `#${canonicalValue(item, run)}`
        : typeof item === 'string'
          ? `"${item}`
          : item
    const earlier = typeof key === 'string' && key.length > LONG ? findLong(long, key, run) : simple.get(key)
    if (earlier !== undefined) return run.fail(() => `must not repeat an item: it equals item ${earlier}`, i)
    if (typeof key === 'string' && key.length > LONG) long.push({ text: key, index: i })
    else simple.set(key, i)
  }
  return VALID
}

function findLong(
  long: readonly { text: string; index: number }[],
  text: string,
  run: ValidationRun,
): number | undefined {
  for (const other of long) {
    run.spend(1)
    if (other.text.length !== text.length) continue
    run.spend(text.length >> 4)
    if (other.text === text) return other.index
  }
  return undefined
}
