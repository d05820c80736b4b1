/**
 * Redacts texts and values of a node: hides secrets of the input, found by schema, by name or by form, in every text.
 */
import { redactArguments } from '../../audit/redact/redact-arguments.ts'
import type { ActiveRun } from '../../runs/engine.ts'
import type { Json, JsonObject } from '../../schema/json.ts'
import { maskKeyForms } from '../../toolkits/secrets/looks-secret.ts'
import { MASK, maskForms } from '../../toolkits/secrets/redact.ts'
import type { RunSnapshot } from '../run-snapshot.ts'

export interface TextRedactor {
  text(text: string): string
  values(values: JsonObject): JsonObject
}

/** Shorter secrets occur in too many texts to be searched for. */
const MIN_SECRET_LENGTH = 4

export function createTextRedactor(
  { input: snapshot }: Pick<ActiveRun, 'input'>,
  extra: JsonObject = {},
): TextRedactor {
  const { input = null, definition } = snapshot as unknown as RunSnapshot
  const properties = { input: definition.input, extra: { type: 'object' } }
  const whole = { input, extra }
  const redacted = redactArguments(whole, { schema: { type: 'object', properties }, whole: true })
  const secrets = [...new Set(listRedacted(whole, redacted))].sort((a, b) => b.length - a.length)
  const text = (message: string) => maskKeyForms(maskForms(message, secrets), MASK)
  const clean = (value: Json): Json => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, clean(item)]))
  }
  return { text, values: (values) => clean(redactArguments(values, { whole: true })) as JsonObject }
}

/** Values that redaction replaced. */
function listRedacted(original: Json, redacted: Json): string[] {
  if (typeof original === 'string' || typeof original === 'number')
    return redacted === MASK && String(original).length >= MIN_SECRET_LENGTH ? [String(original)] : []
  if (typeof original !== 'object' || original === null) return []
  if (redacted === MASK) return Object.values(original).flatMap((item) => listRedacted(item, MASK))
  const redactedFields = (redacted ?? {}) as JsonObject
  return Object.entries(original).flatMap(([name, item]) => listRedacted(item, redactedFields[name]))
}
