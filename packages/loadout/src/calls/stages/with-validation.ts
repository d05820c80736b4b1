import { LRUCache } from 'lru-cache'
import { type FieldError, HostError } from '../../errors.ts'
import { fillDefaults } from '../../json-schema/fill-defaults.ts'
import { ROOT_PATH } from '../../json-schema/run.ts'
import { type Compiled, compileSchema } from '../../json-schema/validator.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { CallHandler, CallOutcome, ResolvedCall, Stage } from '../call.ts'
import { failed } from '../call.ts'

const MAX_SCHEMAS = 5000

/** What is wrong with a call's arguments, or nothing. */
export type ArgumentCheck = (call: ResolvedCall) => HostError | undefined

/** `format` is an annotation: the server decides whether it takes a date without a zone. */
const AS_SENT = { assertFormats: false }

/** Arguments must fit the tool's schema before anything leaves. The errors name the place, so that a model can mend it. */
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
  // A schema that cannot be used was told at introspection; the server itself still checks.
  const result = schema.ok ? schema.validate(args) : { valid: true as const }
  if (result.valid !== false) return undefined
  const { errors, summary } = prefixFieldErrors('arguments', result.errors)
  return new HostError('invalid-input', { detail: `The arguments do not fit the tool: ${summary}`, errors })
}

/** The same for a schema by itself: of arguments that are edited while a call waits for its answer. */
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

/** A required argument that is missing gets its default, so that whoever approves or audits the call sees it. */
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

/** Notes the arguments that are sent although they do not have the format that the schema names. */
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

/** Models write null for what they leave out. Undefined where there is nothing of the kind. */
function withoutNulls({ required }: JsonObject, args: JsonObject): JsonObject | undefined {
  const needed = new Set(Array.isArray(required) ? required : [])
  const entries = Object.entries(args)
  const present = entries.filter(([name, value]) => value !== null || needed.has(name))
  return present.length === entries.length ? undefined : Object.fromEntries(present)
}

/** Errors of a value, at their places in what was sent, and the same as one text. */
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
