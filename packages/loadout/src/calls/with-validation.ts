import { LRUCache } from 'lru-cache'
import { HostError } from '../errors.ts'
import type { JsonObject } from '../schema/json.ts'
import { type Compiled, compileSchema } from '../schema/json-schema/validator.ts'
import type { ResolvedCall } from './call.ts'
import type { Stage } from './compose.ts'
import { placesIn } from './places-in.ts'
import { failed } from './resolve.ts'

const KEPT = 5000

/** What is wrong with a call's arguments, or nothing. */
export type ArgumentCheck = (call: ResolvedCall) => HostError | undefined

/** Arguments must fit the tool's schema before anything leaves. The errors name the place, so that a model can mend it. */
export function createArgumentCheck(): ArgumentCheck {
  const compiled = new LRUCache<string, Compiled>({ max: KEPT })
  const compile = (pin: string, schema: JsonObject): Compiled => {
    const kept = pin === '' ? undefined : compiled.get(pin)
    if (kept) return kept
    const fresh = compileSchema(schema)
    if (pin !== '') compiled.set(pin, fresh)
    return fresh
  }
  return ({ found, arguments: args }) => problemOf(compile(found.pin, found.manifest.inputSchema), args)
}

function problemOf(schema: Compiled, args: JsonObject): HostError | undefined {
  // A schema that cannot be used was told at introspection; the server itself still checks.
  const result = schema.ok ? schema.validate(args) : { valid: true as const }
  if (result.valid !== false) return undefined
  const { errors, told } = placesIn('arguments', result.errors)
  return new HostError('invalid-input', { detail: `The arguments do not fit the tool: ${told}`, errors })
}

/** The same for a schema by itself: of arguments that are edited while a call waits for its answer. */
export function checkEdited(inputSchema: JsonObject, args: JsonObject): HostError | undefined {
  const schema = compileSchema(inputSchema)
  const problem = problemOf(schema, args)
  const lean = problem && leanOf(inputSchema, args)
  return lean && !problemOf(schema, lean) ? undefined : problem
}

export function withValidation(check: ArgumentCheck): Stage {
  return (next) => (call) => {
    const problem = check(call)
    if (!problem) return next(call)
    const args = leanOf(call.found.manifest.inputSchema, call.arguments)
    const lean = args && { ...call, arguments: args }
    return lean && !check(lean) ? next(lean) : Promise.resolve(failed(problem))
  }
}

/** Models write null for what they leave out. Undefined where there is nothing of the kind. */
function leanOf({ required }: JsonObject, args: JsonObject): JsonObject | undefined {
  const needed = new Set(Array.isArray(required) ? required : [])
  const given = Object.entries(args)
  const left = given.filter(([name, value]) => value !== null || needed.has(name))
  return left.length === given.length ? undefined : Object.fromEntries(left)
}
