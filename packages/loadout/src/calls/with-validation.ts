import { LRUCache } from 'lru-cache'
import { HostError } from '../errors.ts'
import type { JsonObject } from '../schema/json.ts'
import { type Compiled, compileSchema } from '../schema/json-schema/validator.ts'
import type { Stage } from './compose.ts'
import { placesIn } from './places-in.ts'
import { failed } from './resolve.ts'

const KEPT = 5000

/** Arguments must fit the tool's schema before anything leaves. The errors name the place, so that a model can mend it. */
export function withValidation(): Stage {
  const compiled = new LRUCache<string, Compiled>({ max: KEPT })
  const compile = (pin: string, schema: JsonObject): Compiled => {
    const kept = pin === '' ? undefined : compiled.get(pin)
    if (kept) return kept
    const fresh = compileSchema(schema)
    if (pin !== '') compiled.set(pin, fresh)
    return fresh
  }
  return (next) => async (call) => {
    const schema = compile(call.found.pin, call.found.manifest.inputSchema)
    // A schema that cannot be used was told at introspection; the server itself still checks.
    const result = schema.ok ? schema.validate(call.arguments) : { valid: true as const }
    if (result.valid !== false) return next(call)
    const { errors, told } = placesIn('arguments', result.errors)
    const detail = `The arguments do not fit the tool: ${told}`
    return failed(new HostError('invalid-input', { detail, errors }))
  }
}
