/**
 * JSON Schema 2020-12 (and what is left of draft 7) for schemas that strangers wrote. Ours, because no library bounds the
 * work: they match patterns by backtracking, recurse without a limit, or make code at run time.
 *
 * - `compileSchema` and `validate` never throw, fetch, evaluate code or look at a prototype, in Node and in browsers.
 * - Whatever the schema and the value, they end within their limits; what is then undecided is `unknown`, not refused.
 * - A reference out of the schema and a pattern that needs backtracking are undecided too, but only where they matter;
 *   `notes` names them. A malformed keyword makes the whole schema not ok, at its place.
 * - `format` is asserted for the formats of `formats.ts` and is an annotation otherwise; `$dynamicRef` is
 *   read as `$ref` where both mean the same, else undecided.
 * - A property that is `undefined` is absent, as in the JSON that will be sent.
 * - JavaScript cannot stop halfway in listing an object's keys (about 0.3 s for a million, half of what parsing them
 *   took), so callers cap the text of schemas and values before they parse it.
 */
import type { FieldError } from '../errors.ts'
import { BudgetExceeded, measure } from './budget.ts'
import { SchemaCompilation } from './compile.ts'
import { type Check, INVALID, type Problem, ROOT_PATH, Run, type RunLimits, UNKNOWN, type Verdict } from './run.ts'

export interface SchemaLimits {
  /** Length of the schema's JSON text, about. @default 262144 */
  maxBytes?: number
  /** Levels of schemas inside one another, and of the value that a schema looks into. @default 64 */
  maxDepth?: number
  /** Schemas inside the schema. @default 10000 */
  maxNodes?: number
  /** Keyword checks of one validation. @default 200000 */
  maxSteps?: number
  /** Errors and notes that are told. @default 20 */
  maxErrors?: number
  /** Whether a known `format` is asserted; else it is an annotation, as in JSON Schema 2020-12. @default true */
  assertFormats?: boolean
}

export type Compiled =
  | {
      ok: true
      /** Places in the schema that cannot be decided, and why. */
      notes: FieldError[]
      validate(value: unknown): ValidationResult
    }
  | {
      ok: false
      /** Places in the schema, and what is wrong there. */
      errors: FieldError[]
    }

export type ValidationResult =
  | { valid: true }
  | {
      valid: false
      /** Places in the value (`items.0.name`; `(root)` for all of it), and what is expected there. */
      errors: FieldError[]
    }
  | {
      valid: 'unknown'
      /** Why neither was proven. */
      reason: string
    }

const DEFAULT_LIMITS: Required<SchemaLimits> = {
  maxBytes: 256 * 1024,
  maxDepth: 64,
  maxNodes: 10_000,
  maxSteps: 200_000,
  maxErrors: 20,
  assertFormats: true,
}

/** Saying why is worth less time than deciding whether. */
const REPORT_SHARE = 0.5

export function compileSchema(schema: unknown, limits: SchemaLimits = {}): Compiled {
  const bounds = { ...DEFAULT_LIMITS, ...limits }
  if (measure(schema, bounds.maxBytes) === undefined)
    return refused(`is larger than ${Math.floor(bounds.maxBytes / 1024)} KiB`)
  try {
    const compilation = new SchemaCompilation(schema, bounds)
    const check = compilation.run()
    const { errors, notes } = compilation
    if (errors.length > 0) return { ok: false, errors }
    return { ok: true, notes, validate: (value) => validate(check, value, bounds) }
  } catch (thrown) {
    if (thrown instanceof BudgetExceeded || thrown instanceof RangeError) return refused(thrown.message)
    throw thrown
  }
}

function refused(message: string): Compiled {
  return { ok: false, errors: [{ path: ROOT_PATH, message }] }
}

function validate(check: Check, value: unknown, limits: RunLimits): ValidationResult {
  const run = new Run(limits)
  const verdict = decide(check, value, run)
  if (verdict === INVALID) return { valid: false, errors: explain(check, value, limits) }
  if (verdict === UNKNOWN)
    return { valid: 'unknown', reason: run.unknownReason ?? 'a part of the schema cannot be checked' }
  return { valid: true }
}

function decide(check: Check, value: unknown, run: Run): Verdict {
  try {
    return check(value, run)
  } catch (thrown) {
    // A RangeError is a stack that was nearly full before we were called.
    if (!(thrown instanceof BudgetExceeded || thrown instanceof RangeError)) throw thrown
    run.unknownReason = thrown.message
    return UNKNOWN
  }
}

/** A second, slower run over a value that is known to be refused. */
function explain(check: Check, value: unknown, limits: RunLimits): FieldError[] {
  const problems: Problem[] = []
  decide(check, value, new Run({ ...limits, maxSteps: Math.ceil(limits.maxSteps * REPORT_SHARE) }, problems))
  if (problems.length === 0) return [{ path: ROOT_PATH, message: 'does not match the schema' }]
  return problems.slice(0, limits.maxErrors).map(({ path, message }) => ({ path, message }))
}
