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
  return ({ found, arguments: args }) => {
    const schema = compile(found.pin, found.manifest.inputSchema)
    // A schema that cannot be used was told at introspection; the server itself still checks.
    const result = schema.ok ? schema.validate(args) : { valid: true as const }
    if (result.valid !== false) return undefined
    const { errors, told } = placesIn('arguments', result.errors)
    return new HostError('invalid-input', { detail: `The arguments do not fit the tool: ${told}`, errors })
  }
}

export function withValidation(check: ArgumentCheck): Stage {
  return (next) => (call) => {
    const problem = check(call)
    if (!problem) return next(call)
    const lean = withoutNulls(call)
    return lean && !check(lean) ? next(lean) : Promise.resolve(failed(problem))
  }
}

/** Models write null for what they leave out. Undefined where there is nothing of the kind. */
function withoutNulls(call: ResolvedCall): ResolvedCall | undefined {
  const { required } = call.found.manifest.inputSchema
  const needed = new Set(Array.isArray(required) ? required : [])
  const given = Object.entries(call.arguments)
  const left = given.filter(([name, value]) => value !== null || needed.has(name))
  return left.length === given.length ? undefined : { ...call, arguments: Object.fromEntries(left) }
}
