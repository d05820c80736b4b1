/**
 * State of one validation: remaining budget, current path and problems. Verdicts are three-valued (Kleene): an
 * undecidable location is UNKNOWN and never becomes a refusal by itself. Every loop over external input calls `spend`;
 * `BudgetExceeded` ends the whole validation. Without `problems` a run only decides and stops at the first refusal;
 * with them it also explains.
 */
import { BudgetExceeded, STEP, type WorkMeter } from './budget.ts'
import type { Evaluated } from './evaluated.ts'

export const INVALID = 0
export const VALID = 1
export const UNKNOWN_VERDICT = 2
export type ValidationVerdict = typeof INVALID | typeof VALID | typeof UNKNOWN_VERDICT

export type Check = (value: unknown, run: ValidationRun) => ValidationVerdict

/** Reporting a problem costs many times more than finding it. */
const REPORT = 16 * STEP

/** Frames (refs, allOf, anyOf …) per level of the value, so that the stack stays bounded. */
const FRAMES_PER_LEVEL = 8

export interface SchemaProblem {
  path: string
  /** Levels below the root of the value; a deeper problem is closer to the intended alternative. */
  depth: number
  message: string
  /** Text after `must be …`, when that is the whole message; lets alternatives be merged. */
  expected?: string
  kind?: 'type' | 'value'
}

export interface ValidationLimits {
  maxSteps: number
  maxDepth: number
  maxErrors: number
}

export class ValidationRun implements WorkMeter {
  readonly maxDepth: number
  readonly maxErrors: number
  problems: SchemaProblem[] | undefined
  /** Evaluated properties and items at this location, when an unevaluated* keyword needs them. */
  evaluated: Evaluated | undefined
  /** Reason of the first UNKNOWN. */
  unknownReason: string | undefined
  readonly path: (string | number)[] = []
  private units: number
  private depth = 0
  private frames = 0

  constructor(limits: ValidationLimits, problems?: SchemaProblem[]) {
    this.maxDepth = limits.maxDepth
    this.maxErrors = limits.maxErrors
    this.units = limits.maxSteps * STEP
    this.problems = problems
  }

  spend(units: number): void {
    this.units -= units
    if (this.units < 0) throw new BudgetExceeded('checking took more steps than are allowed')
  }

  /** Enters a schema at the current location; `leave` ends it. */
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

  /** Whether a failed run should look for more problems. */
  get wantsMore(): boolean {
    return this.problems !== undefined && this.problems.length < this.maxErrors
  }

  fail(
    problem: () => string | Pick<SchemaProblem, 'message' | 'expected' | 'kind'>,
    key?: string | number,
  ): ValidationVerdict {
    if (!this.problems || this.problems.length >= this.maxErrors) return INVALID
    this.spend(REPORT)
    const result = problem()
    const path = key === undefined ? this.path : [...this.path, key]
    const location = { path: pathText(path), depth: path.length }
    this.problems.push(typeof result === 'string' ? { ...location, message: result } : { ...location, ...result })
    return INVALID
  }

  undecided(reason: string): ValidationVerdict {
    this.unknownReason ??= reason
    return UNKNOWN_VERDICT
  }

  /** Checks a child value one level down, with its own evaluated set. */
  descend(check: Check, value: unknown, key: string | number): ValidationVerdict {
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

  /** Runs a check with another problem list: undefined to only decide, or a separate list. */
  reporting(problems: SchemaProblem[] | undefined, check: () => ValidationVerdict): ValidationVerdict {
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

export function and(a: ValidationVerdict, b: ValidationVerdict): ValidationVerdict {
  if (a === INVALID || b === INVALID) return INVALID
  return a === UNKNOWN_VERDICT || b === UNKNOWN_VERDICT ? UNKNOWN_VERDICT : VALID
}

/** Path of the root value. */
export const ROOT_PATH = '(root)'
const MAX_KEY = 80

export function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return ROOT_PATH
  return path
    .map((key) => (typeof key === 'string' && key.length > MAX_KEY ? `${key.slice(0, MAX_KEY)}…` : key))
    .join('.')
}

/** Accepts every value; callers may skip this check by identity. */
export const ALWAYS: Check = () => VALID

/** The schema `false`. */
export const NEVER_VALID: Check = (_value, run) => run.fail(() => 'is not allowed here')
