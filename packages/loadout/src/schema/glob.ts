/** A toolkit (`github`), a tool (`github.delete_repo`) or a glob over them, ready to be held against tools. */
export interface RefPattern {
  toolkit: Glob
  /** Undefined where the whole toolkit is meant. */
  tool: Glob | undefined
  matches(toolkit: string, tool: string): boolean
}

/** The first dot divides: a toolkit's id has none, and a tool's own dots stay its own. */
export function compileRef(ref: string): RefPattern {
  const dot = ref.indexOf('.')
  const toolkit = compileGlob(dot < 0 ? ref : ref.slice(0, dot))
  const tool = dot < 0 ? undefined : compileGlob(ref.slice(dot + 1))
  return { toolkit, tool, matches: (kit, name) => toolkit.matches(kit) && (tool?.matches(name) ?? true) }
}

/**
 * Globs over names: `*`, `?`, `[a-z]`, `[!a-z]`, `{read,list}_*`. They come from users, so they are short (see
 * `globProblem`), and matching never goes back: between two stars the leftmost fit is as good as any.
 */
export interface Glob {
  matches(name: string): boolean
  /** Whether it is a plain name. */
  literal: boolean
}

/** Braces multiply; more than this is no list that a person wrote. */
const MAX_ALTERNATIVES = 16
/** All alternatives together. */
const MAX_CHARACTERS = 600

/** What is wrong with a glob, or undefined. */
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
  // Checked at the door; a pattern that slipped past it matches nothing.
  const alternatives = globProblem(pattern) ? [] : (expandBraces(pattern) ?? []).map(compileAlternative)
  return { literal: false, matches: (name) => alternatives.some((matches) => matches(name)) }
}

/** `{a,b}` spelled out. Braces do not nest; one without its end stands for itself. */
function expandBraces(pattern: string): string[] | undefined {
  let expanded = ['']
  for (const part of pattern.split(/(\{[^{}]*\})/)) {
    const choices = part.startsWith('{') && part.endsWith('}') ? part.slice(1, -1).split(',') : [part]
    if (expanded.length * choices.length > MAX_ALTERNATIVES) return undefined
    expanded = expanded.flatMap((before) => choices.map((choice) => before + choice))
  }
  return expanded
}

/** A piece between two stars: where it first fits at or after a place, or -1; and whether it fits at one place. */
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

/** A star inside a set is a character like any other. */
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
