/**
 * Validates JSON Schema 2020-12 (and remaining draft 7 keywords) for untrusted schemas. It is our own, because no
 * library bounds the work: they match patterns by backtracking, recurse without a limit, or generate code at run time.
 *
 * - `compileSchema` and `validate` never throw, fetch, evaluate code or read a prototype, in Node and in browsers.
 * - They end within their limits for every schema and value; what is undecided then is `unknown`, not refused.
 * - An external reference and a pattern that needs backtracking are undecided too, but only where they matter;
 *   `notes` lists them. A malformed keyword makes the whole schema not ok, with its path.
 * - `format` is asserted for the formats of `formats.ts` and is an annotation otherwise; `$dynamicRef` is
 *   read as `$ref` when both resolve to the same schema, else undecided.
 * - A property that is `undefined` is absent, as in the JSON that is sent.
 * - JavaScript cannot interrupt listing an object's keys (about 0.3 s for a million, half of the parsing time),
 *   so callers cap the text of schemas and values before they parse it.
 */
import type { FieldError } from '../errors.ts'
import { BudgetExceeded, measure } from './budget.ts'
import { SchemaCompilation } from './compile.ts'
import {
  type Check,
  INVALID,
  ROOT_PATH,
  type SchemaProblem,
  UNKNOWN_VERDICT,
  type ValidationLimits,
  ValidationRun,
  type ValidationVerdict,
} from './run.ts'

export interface SchemaLimits {
  /** Approximate length of the schema's JSON text. @default 262144 */
  maxBytes?: number
  /** Nesting levels of schemas, and of the value. @default 64 */
  maxDepth?: number
  /** Number of subschemas. @default 10000 */
  maxNodes?: number
  /** Keyword checks per validation. @default 200000 */
  maxSteps?: number
  /** Maximum errors and notes. @default 20 */
  maxErrors?: number
  /** Whether known formats are asserted; else they are annotations, as in JSON Schema 2020-12. @default true */
  assertFormats?: boolean
}

export type Compiled =
  | {
      ok: true
      /** Schema paths that cannot be decided, with the reason. */
      notes: FieldError[]
      validate(value: unknown): ValidationResult
    }
  | {
      ok: false
      /** Schema paths with their errors. */
      errors: FieldError[]
    }

export type ValidationResult =
  | { valid: true }
  | {
      valid: false
      /** Value paths (`items.0.name`, or `(root)`) with what is expected there. */
      errors: FieldError[]
    }
  | {
      valid: 'unknown'
      /** Why neither valid nor invalid was proven. */
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

/** Explaining gets a smaller budget than deciding. */
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

function validate(check: Check, value: unknown, limits: ValidationLimits): ValidationResult {
  const run = new ValidationRun(limits)
  const verdict = decide(check, value, run)
  if (verdict === INVALID) return { valid: false, errors: explain(check, value, limits) }
  if (verdict === UNKNOWN_VERDICT)
    return { valid: 'unknown', reason: run.unknownReason ?? 'a part of the schema cannot be checked' }
  return { valid: true }
}

function decide(check: Check, value: unknown, run: ValidationRun): ValidationVerdict {
  try {
    return check(value, run)
  } catch (thrown) {
    // A RangeError means that the stack was nearly full before this call.
    if (!(thrown instanceof BudgetExceeded || thrown instanceof RangeError)) throw thrown
    run.unknownReason = thrown.message
    return UNKNOWN_VERDICT
  }
}

/** Second, slower run over an invalid value that collects problems. */
function explain(check: Check, value: unknown, limits: ValidationLimits): FieldError[] {
  const problems: SchemaProblem[] = []
  decide(check, value, new ValidationRun({ ...limits, maxSteps: Math.ceil(limits.maxSteps * REPORT_SHARE) }, problems))
  if (problems.length === 0) return [{ path: ROOT_PATH, message: 'does not match the schema' }]
  return problems.slice(0, limits.maxErrors).map(({ path, message }) => ({ path, message }))
}
