/**
 * Matches patterns in linear time: a Thompson NFA whose states advance together, so no input can make it backtrack.
 * Time is at most states × characters, and every visited state is charged to the meter, which may end the match. RE2
 * ports bound the growth but not the work, and a schema may contain a large pattern and a large string.
 */

import type { WorkMeter } from '../budget.ts'
import { type CharSet, hasCodePoint, WORDS } from './char-set.ts'
import { type Assertion, PatternParser, type Tree, UnsupportedPattern } from './parse.ts'

export interface Pattern {
  readonly source: string
  /** Number of instructions: the memory size of the pattern. */
  readonly size: number
  test(text: string, meter: WorkMeter): boolean
}

/** Compiles a pattern of at most `maxSize` instructions, or returns why it is unsupported. */
export function compilePattern(source: string, maxSize: number): Pattern | { unsupported: string } {
  try {
    const tree = new PatternParser(source).parse()
    if (tree.size > maxSize) return { unsupported: 'the patterns of this schema are too large together' }
    const program = new Emitter().program(tree)
    const matcher = new Matcher(program, beginsAtStart(tree))
    return { source, size: program.length, test: (text, meter) => matcher.test(text, meter) }
  } catch (thrown) {
    if (thrown instanceof UnsupportedPattern) return { unsupported: thrown.message }
    throw thrown
  }
}

const SET = 0
const ASSERT = 1
const FORK = 2
const MATCH = 3

type Instruction =
  | { op: typeof SET; set: CharSet }
  | { op: typeof ASSERT; assertion: Assertion }
  | { op: typeof FORK; to: number; or: number }
  | { op: typeof MATCH }

class Emitter {
  private readonly code: Instruction[] = []

  program(tree: Tree): Instruction[] {
    this.emit(tree)
    this.code.push({ op: MATCH })
    return this.code
  }

  private emit(tree: Tree): void {
    if (tree.type === 'set') this.code.push({ op: SET, set: tree.set })
    else if (tree.type === 'assert') this.code.push({ op: ASSERT, assertion: tree.assertion })
    else if (tree.type === 'all') for (const part of tree.parts) this.emit(part)
    else if (tree.type === 'any') this.emitAny(tree.parts)
    else this.emitRepeat(tree)
  }

  private emitAny(parts: readonly Tree[]): void {
    const ends: { to: number; or: number }[] = []
    parts.forEach((part, i) => {
      const fork = i < parts.length - 1 ? this.fork() : undefined
      this.emit(part)
      if (!fork) return
      ends.push(this.fork())
      fork.or = this.code.length
    })
    for (const end of ends) end.to = end.or = this.code.length
  }

  private emitRepeat({ part, min, max }: { part: Tree; min: number; max: number }): void {
    const endless = max === Number.POSITIVE_INFINITY
    const optional: { or: number }[] = []
    let start = this.code.length
    for (let i = 0; i < (endless ? Math.max(min, 1) : max); i++) {
      if (i >= min) optional.push(this.fork())
      start = this.code.length
      this.emit(part)
    }
    if (endless) {
      const again = this.fork()
      again.or = again.to
      again.to = start
    }
    for (const fork of optional) fork.or = this.code.length
  }

  /** A fork whose first branch is the next instruction; the second is set later. */
  private fork(): { to: number; or: number } {
    const fork = { op: FORK as typeof FORK, to: this.code.length + 1, or: 0 }
    this.code.push(fork)
    return fork
  }
}

function beginsAtStart(tree: Tree): boolean {
  if (tree.type === 'assert') return tree.assertion === 'start'
  if (tree.type === 'any') return tree.parts.every(beginsAtStart)
  return tree.type === 'all' && tree.parts[0] !== undefined && beginsAtStart(tree.parts[0])
}

/** Code points on both sides of a position; -1 at the ends of the text. */
interface Edge {
  before: number
  after: number
}

/** States in the order in which they were reached, each at most once per turn. */
interface States {
  list: Int32Array
  count: number
}

class Matcher {
  private readonly program: readonly Instruction[]
  private readonly anchored: boolean
  /** Turn in which a state was last reached. */
  private readonly reached: Float64Array
  private readonly pending: Int32Array
  private readonly odd: States
  private readonly even: States
  private readonly edge: Edge = { before: -1, after: -1 }
  private turn = 0

  constructor(program: readonly Instruction[], anchored: boolean) {
    this.program = program
    this.anchored = anchored
    this.reached = new Float64Array(program.length)
    // Each state is followed once per turn and adds at most two, of which one is popped at once.
    this.pending = new Int32Array(program.length + 2)
    this.odd = { list: new Int32Array(program.length), count: 0 }
    this.even = { list: new Int32Array(program.length), count: 0 }
  }

  test(text: string, meter: WorkMeter): boolean {
    const { anchored, edge } = this
    let reading = this.odd
    let states = this.even
    let at = 0
    reading.count = 0
    edge.before = -1
    for (;;) {
      edge.after = at < text.length ? (text.codePointAt(at) as number) : -1
      this.turn++
      states.count = 0
      if (this.advance(reading, states, meter)) return true
      const visited = at === 0 || !anchored ? this.follow(0, states) : 0
      if (visited < 0) return true
      meter.spend(visited)
      if (edge.after < 0 || (anchored && states.count === 0)) return false
      const spare = reading
      reading = states
      states = spare
      edge.before = edge.after
      at += edge.after > 0xffff ? 2 : 1
    }
  }

  /** Computes the states after one character; true when one of them is the match. */
  private advance(reading: States, states: States, meter: WorkMeter): boolean {
    let work = 1
    for (let i = 0; i < reading.count; i++) {
      const state = reading.list[i] as number
      const { set } = this.program[state] as { set: CharSet }
      work += 1 + 16 * set.properties.length
      if (!hasCodePoint(set, this.edge.before)) continue
      const visited = this.follow(state + 1, states)
      if (visited < 0) return true
      work += visited
    }
    meter.spend(work)
    return false
  }

  /** Adds the character states that follow a state. Returns how many were visited, or -1 on a match. */
  private follow(from: number, states: States): number {
    const { pending, program, reached, turn } = this
    let visited = 0
    let open = 1
    pending[0] = from
    while (open > 0) {
      const state = pending[--open] as number
      if (reached[state] === turn) continue
      reached[state] = turn
      visited++
      const instruction = program[state] as Instruction
      if (instruction.op === SET) states.list[states.count++] = state
      else if (instruction.op === MATCH) return -1
      else if (instruction.op === FORK) {
        pending[open++] = instruction.or
        pending[open++] = instruction.to
      } else if (isSatisfied(instruction.assertion, this.edge)) pending[open++] = state + 1
    }
    return visited
  }
}

function isSatisfied(assertion: Assertion, { before, after }: Edge): boolean {
  if (assertion === 'start') return before < 0
  if (assertion === 'end') return after < 0
  return (isWord(before) !== isWord(after)) === (assertion === 'word')
}

const WORD_SET: CharSet = { ranges: WORDS, properties: [], negated: false }
const isWord = (code: number) => code >= 0 && hasCodePoint(WORD_SET, code)
