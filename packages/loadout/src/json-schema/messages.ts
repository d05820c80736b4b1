/**
 * Error messages for a model that must fix its call: they name what is expected. Names and literals of a schema are
 * shortened, and values are never repeated, because they may be secrets.
 */

import { isObject } from '../util/is-object.ts'
import { STEP } from './budget.ts'
import { type Kind, kindOf, NULL, own } from './json-value.ts'
import type { SchemaProblem, ValidationRun } from './run.ts'

const MAX_LITERAL = 80
const MAX_LISTED = 20
const MAX_FORMS = 4
/** Nested alternatives build messages from messages, so their length is capped. */
const MAX_MESSAGE = 500
const MAX_COMPARED = 100
const MAX_NAME = 40

const KIND_NAMES = ['null', 'a boolean', 'a number', 'a string', 'an array', 'an object', 'something that is not JSON']

export const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['null', 'null'],
  ['boolean', 'a boolean'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['string', 'a string'],
  ['array', 'an array'],
  ['object', 'an object'],
])

export function typeNames(value: unknown): string {
  const kind: Kind = kindOf(value)
  return kind === NULL ? 'null' : (KIND_NAMES[kind] ?? '')
}

export function literal(value: unknown): string {
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, MAX_LITERAL + 1) : value) ?? 'undefined'
  return text.length > MAX_LITERAL + 2 ? `${text.slice(0, MAX_LITERAL)}…` : text
}

export function listed(values: readonly unknown[]): string {
  const text = values.slice(0, MAX_LISTED).map(literal).join(', ')
  return values.length > MAX_LISTED ? `${text} and ${values.length - MAX_LISTED} more` : text
}

export function count(amount: number, noun: string): string {
  return `${amount} ${amount === 1 ? noun : noun === 'property' ? 'properties' : `${noun}s`}`
}

export function either(names: readonly string[]): string {
  const unique = [...new Set(names)]
  const last = unique.pop() ?? ''
  return unique.length === 0 ? last : `${unique.join(', ')} or ${last}`
}

/** Short description of the expected value, from the top level of its schema. */
export function expectation(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined
  const options = own(schema, 'enum')
  if (Array.isArray(options)) return `one of ${listed(options)}`
  if (Object.hasOwn(schema, 'const')) return literal(schema.const)
  const types = [own(schema, 'type')].flat()
  const names = types.flatMap((type) => TYPE_NAMES.get(String(type)) ?? [])
  return names.length > 0 ? either(names) : undefined
}

/** Caches a text on first use: a long literal may be reported thousands of times. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Most similar name, if one is close enough. */
export function nearest(input: string, names: readonly string[], run: ValidationRun): string | undefined {
  if (input.length > MAX_NAME) return undefined
  const normalizedInput = normalize(input)
  let best: string | undefined
  let least = Math.max(1, Math.floor(input.length / 3)) + 1
  for (const name of names.slice(0, MAX_COMPARED)) {
    if (name === input || Math.abs(name.length - input.length) >= least) continue
    run.spend(input.length * name.length + STEP)
    const edits = normalize(name) === normalizedInput ? 0 : distance(input.toLowerCase(), name.toLowerCase())
    if (edits >= least) continue
    least = edits
    best = name
  }
  return best
}

const normalize = (name: string) => name.replace(/[-_ ]/g, '').toLowerCase()

/** Edit distance in which a swap of two letters counts as one. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

/** Reports why all alternatives failed: the most likely one, else a summary of all. */
export function reportAlternatives(branches: readonly SchemaProblem[][], run: ValidationRun): void {
  const here = run.currentDepth()
  const rightKind = without(branches, (problem) => problem.kind === 'type' && problem.depth === here)
  const candidates = without(rightKind, (problem) => problem.kind === 'value' && problem.depth === here + 1)
  const only = candidates[0]
  if (only && candidates.length === 1) {
    run.problems?.push(...only)
    return
  }
  const shared = sharedChoice(candidates)
  if (shared) run.problems?.push(shared)
  else run.fail(() => formsMessage(candidates))
}

function without(
  branches: readonly SchemaProblem[][],
  wrong: (problem: SchemaProblem) => boolean,
): readonly SchemaProblem[][] {
  const remaining = branches.filter((problems) => !problems.some(wrong))
  return remaining.length > 0 ? remaining : branches
}

/** When all alternatives differ at one path, one message can list every expected value. */
function sharedChoice(branches: readonly SchemaProblem[][]): SchemaProblem | undefined {
  const choices = branches.map((problems) => problems.find((problem) => problem.expected !== undefined))
  const first = choices[0]
  if (!first || choices.some((choice) => choice?.path !== first.path)) return undefined
  const expected = shortened(either(choices.slice(0, MAX_LISTED).flatMap((choice) => choice?.expected ?? [])))
  return { ...first, expected, message: `must be ${expected}` }
}

function formsMessage(branches: readonly SchemaProblem[][]): string {
  const forms = branches.slice(0, MAX_FORMS).map(
    (problems, i) =>
      `(${i + 1}) ${problems
        .slice(0, 3)
        .map(({ path, message }) => `${path} ${message}`)
        .join('; ')}`,
  )
  const more = branches.length > MAX_FORMS ? `, and ${branches.length - MAX_FORMS} more` : ''
  return shortened(`matches none of its ${branches.length} allowed forms: ${forms.join(', ')}${more}`)
}

const shortened = (text: string) => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text)
