/** Code point sets for patterns: sorted ranges, and Unicode properties tested one code point at a time. */

/** A Unicode property such as \p{L}. The native test sees one code point, so it cannot backtrack. */
export interface PropertyTest {
  regex: RegExp
  wanted: boolean
}

export interface CharSet {
  /** Flat pairs of first and last, sorted and disjoint. */
  ranges: readonly number[]
  properties: readonly PropertyTest[]
  negated: boolean
}

export const LAST = 0x10ffff

export const DIGITS: readonly number[] = [0x30, 0x39]
export const WORDS: readonly number[] = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]
export const LINE_ENDS: readonly number[] = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029]
export const SPACES: readonly number[] = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f,
  0x3000, 0x3000, 0xfeff, 0xfeff,
]

export function charSet(ranges: readonly number[], properties: readonly PropertyTest[] = [], negated = false): CharSet {
  return { ranges: merged(ranges), properties, negated }
}

export function complement(ranges: readonly number[]): number[] {
  const result: number[] = []
  let next = 0
  const sorted = merged(ranges)
  for (let i = 0; i < sorted.length; i += 2) {
    const first = sorted[i] ?? 0
    if (first > next) result.push(next, first - 1)
    next = (sorted[i + 1] ?? 0) + 1
  }
  if (next <= LAST) result.push(next, LAST)
  return result
}

export function hasCodePoint(set: CharSet, code: number): boolean {
  return (inRanges(set.ranges, code) || hasProperty(set.properties, code)) !== set.negated
}

function inRanges(ranges: readonly number[], code: number): boolean {
  let low = 0
  let high = ranges.length / 2 - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    if (code < (ranges[2 * middle] as number)) high = middle - 1
    else if (code > (ranges[2 * middle + 1] as number)) low = middle + 1
    else return true
  }
  return false
}

function hasProperty(properties: readonly PropertyTest[], code: number): boolean {
  if (properties.length === 0) return false
  const char = String.fromCodePoint(code)
  return properties.some(({ regex, wanted }) => regex.test(char) === wanted)
}

function merged(ranges: readonly number[]): number[] {
  if (ranges.length <= 2) return [...ranges]
  const pairs: [number, number][] = []
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i] ?? 0, ranges[i + 1] ?? 0])
  pairs.sort((a, b) => a[0] - b[0])
  const result: number[] = []
  for (const [first, last] of pairs) {
    const end = result.at(-1)
    if (end !== undefined && first <= end + 1) result[result.length - 1] = Math.max(end, last)
    else result.push(first, last)
  }
  return result
}
