/**
 * Matches a pattern against the model-visible text of a tool in linear time. Several words without pattern characters
 * match as keywords.
 */

import { HostError } from '../../errors.ts'
import { BudgetExceeded, type WorkMeter } from '../../json-schema/budget.ts'
import { compilePattern } from '../../json-schema/regex/match.ts'
import { PatternParser, type Tree } from '../../json-schema/regex/parse.ts'
import { SEARCH_FIELDS, textsOf } from '../index/fields.ts'
import type { Segment } from '../index/segment.ts'
import type { SearchTool } from '../search.ts'
import type { Scores } from './rank.ts'

const MAX_LENGTH = 200
const MAX_INSTRUCTIONS = 2000
/** Budget of one search: about 50 ms. */
const MAX_STEPS = 8_000_000
const MAX_TEXT_LENGTH = 4000
/** Matching is always case-insensitive. */
const NO_CASE = /^\(\?i\)/
/** A character after a backslash is no letter and must not be lowercased. */
const LETTERS = /\\p\{[^}]*\}|\\[\s\S]|[^\\]+/gi
/** `^` and `$`, also inside brackets, which only costs a second match. */
const ANCHOR = /[\^$]/
const IS_PATTERN = /[\\^$.*+?()[\]{}|]/

/** 1 for a match in the name, 0.5 in the other texts. */
export function regexScores(segments: readonly Segment[], text: string): Scores {
  const match = matcherOf(text.trim())
  return segments.map(({ tools }) => Float32Array.from(tools, (tool) => match(tool)))
}

type Matcher = (tool: SearchTool) => number

function matcherOf(text: string): Matcher {
  if (text.length > MAX_LENGTH) throw invalid(`has ${text.length} characters; at most ${MAX_LENGTH} are taken`)
  if (!IS_PATTERN.test(text)) return keywords(text)
  // Names are matched case-insensitively.
  const source = text.replace(NO_CASE, '').replace(LETTERS, (part) => (part[0] === '\\' ? part : part.toLowerCase()))
  const pattern = compilePattern(source, MAX_INSTRUCTIONS)
  if ('unsupported' in pattern) throw invalid(`cannot be used: ${pattern.unsupported}`)
  const needs = requiredLiterals(new PatternParser(source).parse())
  const meter = meterOf(MAX_STEPS)
  const isAnchored = ANCHOR.test(source)
  return (tool) => {
    const [name, rest] = wordsOf(tool)
    try {
      if (isMet(needs, name)) {
        if (pattern.test(name, meter)) return 1
        if (isAnchored && namesOf(tool).some((text) => pattern.test(text, meter))) return 1
      }
      return isMet(needs, rest) && pattern.test(rest, meter) ? 0.5 : 0
    } catch (error) {
      if (error instanceof BudgetExceeded) throw invalid('takes too long over this many tools')
      throw error
    }
  }
}

function meterOf(units: number): WorkMeter {
  let remaining = units
  return {
    maxDepth: 100,
    spend(cost) {
      remaining -= cost
      if (remaining < 0) throw new BudgetExceeded()
    },
  }
}

function keywords(text: string): Matcher {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 50)
  if (words.length === 0) return () => 0
  return (tool) => {
    const [name, rest] = wordsOf(tool)
    let score = 0
    for (const word of words) score += name.includes(word) ? 1 : rest.includes(word) ? 0.5 : 0
    return score / words.length
  }
}

/** Each name separately, so that anchors apply to it. */
function namesOf({ ref, name, title }: SearchTool): string[] {
  // A renamed tool has both names.
  const names = [name, ...name.split(' '), ...(title === undefined ? [] : [title]), ref.slice(ref.indexOf('.') + 1)]
  return [...new Set(names)].map((text) => text.slice(0, MAX_TEXT_LENGTH).toLowerCase())
}

/** The name text and the remaining texts. */
function wordsOf(tool: SearchTool): [string, string] {
  const texts = textsOf(tool)
  const rest = SEARCH_FIELDS.filter((field) => field !== 'name').map((field) => texts[field])
  return [`${tool.ref} ${texts.name}`.toLowerCase(), rest.join('\n').slice(0, MAX_TEXT_LENGTH).toLowerCase()]
}

const invalid = (message: string) =>
  new HostError('invalid-input', { detail: `The pattern ${message}.`, errors: [{ path: 'q', message }] })

/** Literals that a text must contain to match, one of each group: a fast filter before the pattern. */
export type Needs = readonly (readonly string[])[]

const MAX_ALTERNATIVES = 50

export function requiredLiterals(tree: Tree): Needs {
  if (tree.type === 'set') return literal(tree) === undefined ? [] : [[literal(tree) as string]]
  if (tree.type === 'repeat') return tree.min > 0 ? requiredLiterals(tree.part) : []
  if (tree.type === 'all') return inSequence(tree.parts)
  if (tree.type === 'any') return eitherOf(tree.parts)
  return []
}

export const isMet = (needs: Needs, text: string) =>
  needs.every((group) => group.some((required) => text.includes(required)))

function inSequence(parts: readonly Tree[]): Needs {
  const needs: string[][] = []
  let run = ''
  for (const part of parts) {
    const character = literal(part)
    if (character !== undefined) {
      run += character
      continue
    }
    // A zero-width assertion does not separate literals.
    if (part.type === 'assert') continue
    if (run !== '') needs.push([run])
    run = ''
    needs.push(...requiredLiterals(part).map((group) => [...group]))
  }
  return run === '' ? needs : [...needs, [run]]
}

/** Each alternative contributes its longest group. */
function eitherOf(parts: readonly Tree[]): Needs {
  const literals: string[] = []
  for (const part of parts) {
    const [best] = requiredLiterals(part).toSorted((a, b) => shortest(b) - shortest(a))
    if (!best) return []
    literals.push(...best)
  }
  return literals.length > MAX_ALTERNATIVES ? [] : [literals]
}

const shortest = (group: readonly string[]) => Math.min(...group.map((text) => text.length))

function literal(tree: Tree): string | undefined {
  if (tree.type !== 'set') return undefined
  const { ranges, properties, negated } = tree.set
  const [first, last] = ranges
  const isOne = !negated && properties.length === 0 && ranges.length === 2 && first === last
  return isOne && first !== undefined ? String.fromCodePoint(first) : undefined
}
