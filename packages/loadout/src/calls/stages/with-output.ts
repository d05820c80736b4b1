/** Validates structured content against the output schema. */
import { LRUCache } from 'lru-cache'
import { type Compiled, compileSchema } from '../../json-schema/validator.ts'
import type { Stage } from '../call.ts'
import { prefixFieldErrors } from './with-validation.ts'

const MAX_SCHEMAS = 2000
const MAX_NOTE_LENGTH = 2000

/**
 * Removes structured content that violates the output schema and keeps the text, because the call was made. Content
 * without a usable schema passes.
 */
export function withOutput(): Stage {
  const compiled = new LRUCache<string, Compiled>({ max: MAX_SCHEMAS })
  return (next) => async (call) => {
    const outcome = await next(call)
    const { outputSchema } = call.found.manifest
    if (outputSchema === undefined || 'error' in outcome || outcome.status !== 'ok') return outcome
    if (outcome.structuredContent === undefined) return outcome
    const { pin } = call.found
    const schema = (pin === '' ? undefined : compiled.get(pin)) ?? compileSchema(outputSchema)
    if (pin !== '') compiled.set(pin, schema)
    const result = schema.ok ? schema.validate(outcome.structuredContent) : { valid: true as const }
    if (result.valid !== false) return outcome
    const { summary } = prefixFieldErrors('structuredContent', result.errors)
    const text = `The structured result was left out: it is not what the tool promises. ${summary}`.slice(
      0,
      MAX_NOTE_LENGTH,
    )
    return { status: outcome.status, content: [...outcome.content, { type: 'text', text }] }
  }
}
