/** Programs made to take long to read. In a file of its own: counting steps slows down all that runs beside it. */
import { expect, it } from 'vitest'
import { newWork } from '../../../../test/prove/work.ts'
import { MAX_PROGRAM_BYTES, readProgram } from '../../src/code-mode/parse/read-program.ts'

const work = newWork()
const around = (open: string, close: string, times: number) => `${open.repeat(times)}x${close.repeat(times)}`
const full = (piece: string) => piece.repeat(Math.floor(MAX_PROGRAM_BYTES / piece.length))
it.each<[what: string, source: string]>([
  // Read in two ways each: 2^40 tokens without a bound.
  ['types before brackets', around('<T>(', ')', 40)],
  ['brackets', around('(', ')', 100_000)],
  ['generic calls', around('f<T>(', ')', 40_000)],
  ['templates', around('`${', '}`', 60_000)],
  ['unary operators', full('-')],
  ['statements', full('a;')],
  ['regular expressions', full('/a/;')],
  ['fences', full('```\n')],
  ['assertions', `x${' as T'.repeat(50_000)}`],
  ['conditions', around('a?(', '):b', 40_000)],
])('reads a program of nothing but %s in bounded steps', async (_, source) => {
  const read = await work.within({ steps: 15_000_000, ms: 5_000 }, () => readProgram({ source }))
  expect(read.ok || read.error.line).toBe(1)
})
