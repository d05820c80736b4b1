/**
 * One validation in flight: what it may still spend, where in the value it is, and what it found.
 * Verdicts are three-valued (Kleene): a place that we cannot decide is UNKNOWN and never turns into a refusal by itself.
 * Every loop over something that came from outside pays by `spend`; the throw of `Spent` ends the whole validation.
 * Without `problems` a run only decides and stops at the first refusal; with them it also says why.
 */
import { BudgetExceeded, type Meter, STEP } from './budget.ts'
import type { Evaluated } from './evaluated.ts'

export const INVALID = 0
export const VALID = 1
export const UNKNOWN = 2
export type Verdict = typeof INVALID | typeof VALID | typeof UNKNOWN

export type Check = (value: unknown, run: Run) => Verdict

/** Telling a problem takes many times longer than finding it. */
const REPORT = 16 * STEP

/** In-place nesting (refs, allOf, anyOf …) allowed for each level of the value, so that the stack stays bounded. */
const FRAMES_PER_LEVEL = 8

export interface Problem {
  path: string
  /** Levels below the root of the value: deeper is nearer to what was meant. */
  depth: number
  message: string
  /** What `must be …` would name, where that is the whole message: lets alternatives be told together. */
  expected?: string
  kind?: 'type' | 'value'
}

export interface RunLimits {
  maxSteps: number
  maxDepth: number
  maxErrors: number
}

export class Run implements Meter {
  readonly maxDepth: number
  readonly maxErrors: number
  problems: Problem[] | undefined
  /** What was evaluated at this place, when an unevaluated* keyword above asks. */
  evaluated: Evaluated | undefined
  /** Why the first UNKNOWN was one. */
  unknownReason: string | undefined
  readonly path: (string | number)[] = []
  private units: number
  private depth = 0
  private frames = 0

  constructor(limits: RunLimits, problems?: Problem[]) {
    this.maxDepth = limits.maxDepth
    this.maxErrors = limits.maxErrors
    this.units = limits.maxSteps * STEP
    this.problems = problems
  }

  spend(units: number): void {
    this.units -= units
    if (this.units < 0) throw new BudgetExceeded('checking took more steps than are allowed')
  }

  /** Begin a schema at the present place; `leave` ends it. */
  enter(checks: number): void {
    this.spend(checks * STEP)
    if (++this.frames > this.maxDepth * FRAMES_PER_LEVEL)
      throw new BudgetExceeded(
        'the schema goes too deep at one place of the value; perhaps it refers to itself without end',
      )
  }

  leave(): void {
    this.frames--
  }

  /** Whether a refusal already found leaves something to look for. */
  get wantsMore(): boolean {
    return this.problems !== undefined && this.problems.length < this.maxErrors
  }

  fail(problem: () => string | Pick<Problem, 'message' | 'expected' | 'kind'>, key?: string | number): Verdict {
    if (!this.problems || this.problems.length >= this.maxErrors) return INVALID
    this.spend(REPORT)
    const result = problem()
    const path = key === undefined ? this.path : [...this.path, key]
    const location = { path: pathText(path), depth: path.length }
    this.problems.push(typeof result === 'string' ? { ...location, message: result } : { ...location, ...result })
    return INVALID
  }

  undecided(reason: string): Verdict {
    this.unknownReason ??= reason
    return UNKNOWN
  }

  /** Check a part of the value: one level down, with its own evaluated parts. */
  descend(check: Check, value: unknown, key: string | number): Verdict {
    if (++this.depth > this.maxDepth)
      throw new BudgetExceeded(`the value is nested deeper than ${this.maxDepth} levels`)
    const { evaluated } = this
    this.evaluated = undefined
    this.path.push(key)
    const verdict = check(value, this)
    this.path.pop()
    this.evaluated = evaluated
    this.depth--
    return verdict
  }

  /** Run with other problems: none to only decide, a list of its own to decide later which ones to tell. */
  reporting(problems: Problem[] | undefined, check: () => Verdict): Verdict {
    const outer = this.problems
    this.problems = problems
    const verdict = check()
    this.problems = outer
    return verdict
  }

  currentDepth(): number {
    return this.path.length
  }
}

export function and(a: Verdict, b: Verdict): Verdict {
  if (a === INVALID || b === INVALID) return INVALID
  return a === UNKNOWN || b === UNKNOWN ? UNKNOWN : VALID
}

/** The path of the value itself. */
export const ROOT_PATH = '(root)'
const MAX_KEY = 80

export function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return ROOT_PATH
  return path
    .map((key) => (typeof key === 'string' && key.length > MAX_KEY ? `${key.slice(0, MAX_KEY)}…` : key))
    .join('.')
}

/** Accepts everything; callers may skip a check that is this very one. */
export const ALWAYS: Check = () => VALID

/** The schema `false`. */
export const NEVER: Check = (_value, run) => run.fail(() => 'is not allowed here')
