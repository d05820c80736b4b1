/**
 * Globs over names: `*`, `?`, `[a-z]`, `[!a-z]`, `{read,list}_*`. They come from users, so matching never backtracks
 * further than the last star: at most pattern × name steps, whatever either says.
 */
export interface Glob {
  matches(name: string): boolean
  /** Whether it is a plain name. */
  literal: boolean
}

type Token = { kind: 'star' } | { kind: 'any' } | { kind: 'one'; code: number } | CharacterSet
interface CharacterSet {
  kind: 'set'
  negated: boolean
  ranges: ReadonlyArray<readonly [number, number]>
}

/** Braces multiply; more than this is no list that a person wrote. */
const MAX_ALTERNATIVES = 64

/** What is wrong with a glob, or undefined. */
export function globProblem(pattern: string): string | undefined {
  return expandBraces(pattern) === undefined ? `has more than ${MAX_ALTERNATIVES} alternatives in braces` : undefined
}

export function compileGlob(pattern: string): Glob {
  if (!/[*?[{]/.test(pattern)) return { literal: true, matches: (name) => name === pattern }
  // Checked at the door; a pattern that slipped past it matches nothing.
  const alternatives = (expandBraces(pattern) ?? []).map(tokensOf)
  return { literal: false, matches: (name) => alternatives.some((tokens) => matchesTokens(tokens, name)) }
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

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = []
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index]
    const end = char === '[' ? pattern.indexOf(']', index + 2) : -1
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' })
    } else if (char === '?') tokens.push({ kind: 'any' })
    else if (end > 0) {
      tokens.push(setOf(pattern.slice(index + 1, end)))
      index = end
    } else tokens.push({ kind: 'one', code: pattern.charCodeAt(index) })
  }
  return tokens
}

function setOf(inside: string): CharacterSet {
  const negated = /^[!^]./s.test(inside)
  const text = negated ? inside.slice(1) : inside
  const ranges: Array<[number, number]> = []
  for (let index = 0; index < text.length; index++) {
    const isRange = text[index + 1] === '-' && index + 2 < text.length
    ranges.push([text.charCodeAt(index), text.charCodeAt(isRange ? index + 2 : index)])
    if (isRange) index += 2
  }
  return { kind: 'set', negated, ranges }
}

function matchesTokens(tokens: readonly Token[], name: string): boolean {
  let [token, at] = [0, 0]
  // Where to go on when the rest does not fit: the last star takes one more.
  let [star, taken] = [-1, 0]
  while (at < name.length) {
    const current = tokens[token]
    if (current?.kind === 'star') {
      star = token++
      taken = at
    } else if (current && matchesOne(current, name.charCodeAt(at))) {
      token++
      at++
    } else if (star >= 0) {
      token = star + 1
      at = ++taken
    } else return false
  }
  while (tokens[token]?.kind === 'star') token++
  return token === tokens.length
}

function matchesOne(token: Token, code: number): boolean {
  if (token.kind === 'one') return token.code === code
  if (token.kind === 'set') return token.ranges.some(([from, to]) => code >= from && code <= to) !== token.negated
  return token.kind === 'any'
}
