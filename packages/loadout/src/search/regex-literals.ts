/** What must stand in a text for a pattern to fit it: found in no time, it spares most texts the slow way. */
import type { Tree } from '../schema/json-schema/pattern-parse.ts'

/** Of each group, one must be there. */
export type Needs = readonly (readonly string[])[]

const MOST_ALTERNATIVES = 50

export function needsOf(tree: Tree): Needs {
  if (tree.type === 'set') return literal(tree) === undefined ? [] : [[literal(tree) as string]]
  if (tree.type === 'repeat') return tree.min > 0 ? needsOf(tree.part) : []
  if (tree.type === 'all') return inSequence(tree.parts)
  if (tree.type === 'any') return eitherOf(tree.parts)
  return []
}

export const isMet = (needs: Needs, text: string) => needs.every((group) => group.some((one) => text.includes(one)))

function inSequence(parts: readonly Tree[]): Needs {
  const needs: string[][] = []
  let run = ''
  for (const part of parts) {
    const character = literal(part)
    if (character !== undefined) {
      run += character
      continue
    }
    // What stands between letters and takes none of the text does not divide them.
    if (part.type === 'assert') continue
    if (run !== '') needs.push([run])
    run = ''
    needs.push(...needsOf(part).map((group) => [...group]))
  }
  return run === '' ? needs : [...needs, [run]]
}

/** Each alternative gives its most telling group. */
function eitherOf(parts: readonly Tree[]): Needs {
  const all: string[] = []
  for (const part of parts) {
    const [best] = needsOf(part).toSorted((a, b) => shortest(b) - shortest(a))
    if (!best) return []
    all.push(...best)
  }
  return all.length > MOST_ALTERNATIVES ? [] : [all]
}

const shortest = (group: readonly string[]) => Math.min(...group.map((one) => one.length))

function literal(tree: Tree): string | undefined {
  if (tree.type !== 'set') return undefined
  const { ranges, properties, negated } = tree.set
  const [first, last] = ranges
  const isOne = !negated && properties.length === 0 && ranges.length === 2 && first === last
  return isOne && first !== undefined ? String.fromCodePoint(first) : undefined
}
