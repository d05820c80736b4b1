/** A compiled toolkit ref (`github`), tool ref (`github.delete_repo`) or glob over refs. */
export interface RefPattern {
  toolkit: Glob
  /** Undefined when the ref names the whole toolkit. */
  tool: Glob | undefined
  matches(toolkit: string, tool: string): boolean
}

/** Splits at the first dot: a toolkit id has none, and a tool name may have several. */
export function compileRef(ref: string): RefPattern {
  const dot = ref.indexOf('.')
  const toolkit = compileGlob(dot < 0 ? ref : ref.slice(0, dot))
  const tool = dot < 0 ? undefined : compileGlob(ref.slice(dot + 1))
  return { toolkit, tool, matches: (kit, name) => toolkit.matches(kit) && (tool?.matches(name) ?? true) }
}

/**
 * Globs over names: `*`, `?`, `[a-z]`, `[!a-z]`, `{read,list}_*`. Users write them, so `globProblem` bounds their
 * length, and matching never backtracks: between two stars the leftmost match is as good as any.
 */
export interface Glob {
  matches(name: string): boolean
  /** Whether the pattern is a plain name. */
  literal: boolean
}

/** Braces multiply, so the number of alternatives is bounded. */
const MAX_ALTERNATIVES = 16
/** Total length of all alternatives. */
const MAX_CHARACTERS = 600

/** Returns the reason why a glob is invalid, or undefined. */
export function globProblem(pattern: string): string | undefined {
  if (!isGlob(pattern)) return undefined
  const expanded = expandBraces(pattern)
  if (expanded === undefined) return `has more than ${MAX_ALTERNATIVES} alternatives in braces`
  const characters = expanded.reduce((sum, alternative) => sum + alternative.length, 0)
  return characters > MAX_CHARACTERS ? `is longer than ${MAX_CHARACTERS} characters, its braces spelled out` : undefined
}

export const isGlob = (pattern: string): boolean => /[*?[{]/.test(pattern)

export function compileGlob(pattern: string): Glob {
  if (!isGlob(pattern)) return { literal: true, matches: (name) => name === pattern }
  // Schemas reject invalid globs; one that reaches this line matches nothing.
  const alternatives = globProblem(pattern) ? [] : (expandBraces(pattern) ?? []).map(compileAlternative)
  return { literal: false, matches: (name) => alternatives.some((matches) => matches(name)) }
}

/** Expands `{a,b}`. Braces do not nest; an unclosed brace is a literal. */
function expandBraces(pattern: string): string[] | undefined {
  let expanded = ['']
  for (const part of pattern.split(/(\{[^{}]*\})/)) {
    const choices = part.startsWith('{') && part.endsWith('}') ? part.slice(1, -1).split(',') : [part]
    if (expanded.length * choices.length > MAX_ALTERNATIVES) return undefined
    expanded = expanded.flatMap((before) => choices.map((choice) => before + choice))
  }
  return expanded
}

/** Text between two stars: `find` returns the first match at or after an index, or -1. */
interface Segment {
  length: number
  find(name: string, from: number): number
  matchesAt(name: string, at: number): boolean
}

function compileAlternative(pattern: string): (name: string) => boolean {
  const [first = compileSegment(''), ...rest] = splitAtStars(pattern).map(compileSegment)
  const last = rest.pop()
  if (!last) return (name) => name.length === first.length && first.matchesAt(name, 0)
  return (name) => {
    if (name.length < first.length + last.length || !first.matchesAt(name, 0)) return false
    const end = name.length - last.length
    let at = first.length
    for (const segment of rest) {
      const found = segment.find(name, at)
      if (found < 0) return false
      at = found + segment.length
    }
    return at <= end && last.matchesAt(name, end)
  }
}

/** A star inside a set is a literal. */
function splitAtStars(pattern: string): string[] {
  const parts = ['']
  for (let index = 0; index < pattern.length; index++) {
    const end = setEnd(pattern, index)
    const text = end > 0 ? pattern.slice(index, end + 1) : (pattern[index] as string)
    if (text === '*') parts.push('')
    else parts[parts.length - 1] += text
    index += text.length - 1
  }
  return parts
}

const setEnd = (pattern: string, at: number) => (pattern[at] === '[' ? pattern.indexOf(']', at + 2) : -1)

type CharTest = (code: number) => boolean

function compileSegment(text: string): Segment {
  if (!/[?[]/.test(text))
    return {
      length: text.length,
      find: (name, from) => name.indexOf(text, from),
      matchesAt: (name, at) => name.startsWith(text, at),
    }
  const tests = compileTests(text)
  const matchesAt = (name: string, at: number) =>
    at + tests.length <= name.length && tests.every((test, index) => test(name.charCodeAt(at + index)))
  return {
    length: tests.length,
    matchesAt,
    find(name, from) {
      for (let at = from; at + tests.length <= name.length; at++) if (matchesAt(name, at)) return at
      return -1
    },
  }
}

function compileTests(text: string): CharTest[] {
  const tests: CharTest[] = []
  for (let index = 0; index < text.length; index++) {
    const end = setEnd(text, index)
    const code = text.charCodeAt(index)
    if (end > 0) {
      tests.push(compileSet(text.slice(index + 1, end)))
      index = end
    } else tests.push(text[index] === '?' ? () => true : (other) => other === code)
  }
  return tests
}

function compileSet(inside: string): CharTest {
  const negated = /^[!^]./s.test(inside)
  const text = negated ? inside.slice(1) : inside
  const ranges: Array<[number, number]> = []
  for (let index = 0; index < text.length; index++) {
    const isRange = text[index + 1] === '-' && index + 2 < text.length
    ranges.push([text.charCodeAt(index), text.charCodeAt(isRange ? index + 2 : index)])
    if (isRange) index += 2
  }
  return (code) => ranges.some(([from, to]) => code >= from && code <= to) !== negated
}
