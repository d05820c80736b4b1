/** Validates arguments against the input schema before anything is sent. */
import { LRUCache } from 'lru-cache'
import { type FieldError, HostError } from '../../errors.ts'
import { fillDefaults } from '../../json-schema/fill-defaults.ts'
import { ROOT_PATH } from '../../json-schema/run.ts'
import { type Compiled, compileSchema } from '../../json-schema/validator.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { CallHandler, CallOutcome, ResolvedCall, Stage } from '../call.ts'
import { failed } from '../call.ts'

const MAX_SCHEMAS = 5000

/** Returns the error of invalid arguments. */
export type ArgumentCheck = (call: ResolvedCall) => HostError | undefined

/** `format` is not enforced: the server decides, for example, whether a date needs a time zone. */
const AS_SENT = { assertFormats: false }

/** Errors name the path of each invalid argument, so that a model can correct it. */
export function createArgumentCheck(): ArgumentCheck {
  const compiled = new LRUCache<string, Compiled>({ max: MAX_SCHEMAS })
  const compile = (pin: string, schema: JsonObject): Compiled => {
    const cached = pin === '' ? undefined : compiled.get(pin)
    if (cached) return cached
    const fresh = compileSchema(schema, AS_SENT)
    if (pin !== '') compiled.set(pin, fresh)
    return fresh
  }
  return ({ found, arguments: args }) => problemOf(compile(found.pin, found.manifest.inputSchema), args)
}

function problemOf(schema: Compiled, args: JsonObject): HostError | undefined {
  // An unusable schema was reported at introspection; the server still validates.
  const result = schema.ok ? schema.validate(args) : { valid: true as const }
  if (result.valid !== false) return undefined
  const { errors, summary } = prefixFieldErrors('arguments', result.errors)
  return new HostError('invalid-input', { detail: `The arguments do not fit the tool: ${summary}`, errors })
}

/** Validates arguments that were edited during approval. */
export function checkEdited(inputSchema: JsonObject, args: JsonObject): HostError | undefined {
  const schema = compileSchema(inputSchema, AS_SENT)
  const problem = problemOf(schema, args)
  const compact = problem && withoutNulls(inputSchema, args)
  return compact && !problemOf(schema, compact) ? undefined : problem
}

export function withValidation(check: ArgumentCheck): Stage {
  const withWarnings = createWarnings()
  return (next) => (request) => {
    const call = withDefaults(request)
    const problem = check(call)
    if (!problem) return reportWarnings(next, withWarnings(call))
    const args = withoutNulls(call.found.manifest.inputSchema, call.arguments)
    const compact = args && { ...call, arguments: args }
    return compact && !check(compact) ? reportWarnings(next, withWarnings(compact)) : Promise.resolve(failed(problem))
  }
}

/** Fills in defaults of missing required arguments, so that approvals and the log show them. */
function withDefaults(call: ResolvedCall): ResolvedCall {
  const filled = fillDefaults(call.found.manifest.inputSchema, call.arguments)
  return filled === call.arguments ? call : { ...call, arguments: filled }
}

/** Makes the call, and adds its warnings to the outcome. */
async function reportWarnings(next: CallHandler<ResolvedCall>, call: ResolvedCall): Promise<CallOutcome> {
  const outcome = await next(call)
  const { warnings } = call.notes
  return 'error' in outcome || warnings === undefined ? outcome : { ...outcome, warnings: [...warnings] }
}

const MAX_WARNINGS = 10

/** Notes arguments that violate a `format`; they are sent anyway. */
function createWarnings(): (call: ResolvedCall) => ResolvedCall {
  const compiled = new LRUCache<string, { strict: Compiled | undefined }>({ max: MAX_SCHEMAS })
  const strictOf = ({ pin, manifest: { inputSchema } }: ResolvedCall['found']): Compiled | undefined => {
    const cached = pin === '' ? undefined : compiled.get(pin)
    if (cached) return cached.strict
    const strict = JSON.stringify(inputSchema).includes('"format"') ? compileSchema(inputSchema) : undefined
    if (pin !== '') compiled.set(pin, { strict })
    return strict
  }
  return (call) => {
    const schema = strictOf(call.found)
    const result = schema?.ok ? schema.validate(call.arguments) : undefined
    if (result?.valid !== false) return call
    const { errors } = prefixFieldErrors('arguments', result.errors)
    call.notes.warnings = errors.slice(0, MAX_WARNINGS).map(({ path, message }) => `${path} ${message}`)
    return call
  }
}

/** Removes optional null arguments, which models write for omitted ones. Returns undefined if there are none. */
function withoutNulls({ required }: JsonObject, args: JsonObject): JsonObject | undefined {
  const needed = new Set(Array.isArray(required) ? required : [])
  const entries = Object.entries(args)
  const present = entries.filter(([name, value]) => value !== null || needed.has(name))
  return present.length === entries.length ? undefined : Object.fromEntries(present)
}

/** Prefixes error paths and joins the errors to one text. */
export function prefixFieldErrors(
  prefix: string,
  fieldErrors: readonly FieldError[],
): { errors: FieldError[]; summary: string } {
  const errors = fieldErrors.map(({ path, message }) => ({
    path: path === ROOT_PATH ? prefix : `${prefix}.${path}`,
    message,
  }))
  return { errors, summary: errors.map(({ path, message }) => `${path}: ${message}`).join('; ') }
}
