/**
 * What is shown and stored of the texts and values of a node: secrets of the input, by its schema, by their names or by their
 * form, are hidden wherever a text has them.
 */
import { redactArguments } from '../../audit/redact/redact-arguments.ts'
import type { ActiveRun } from '../../runs/engine.ts'
import type { Json, JsonObject } from '../../schema/json.ts'
import { maskKeyForms } from '../../toolkits/secrets/looks-secret.ts'
import { MASK, maskForms } from '../../toolkits/secrets/redact.ts'
import type { RunSnapshot } from '../run-snapshot.ts'

export interface Redactor {
  text(text: string): string
  values(values: JsonObject): JsonObject
}

/** What is shorter is in too many texts to be looked for. */
const SHORTEST = 4

export function createRedactor({ input: kept }: Pick<ActiveRun, 'input'>, given: JsonObject = {}): Redactor {
  const { input = null, definition } = kept as unknown as RunSnapshot
  const properties = { input: definition.input, given: { type: 'object' } }
  const whole = { input, given }
  const shown = redactArguments(whole, { schema: { type: 'object', properties }, whole: true })
  const secrets = [...new Set(hiddenIn(whole, shown))].sort((a, b) => b.length - a.length)
  const text = (said: string) => maskKeyForms(maskForms(said, secrets), MASK)
  const clean = (value: Json): Json => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, clean(one)]))
  }
  return { text, values: (values) => clean(redactArguments(values, { whole: true })) as JsonObject }
}

/** The texts that are not shown as they are. */
function hiddenIn(given: Json, shown: Json): string[] {
  if (typeof given === 'string' || typeof given === 'number')
    return shown === MASK && String(given).length >= SHORTEST ? [String(given)] : []
  if (typeof given !== 'object' || given === null) return []
  if (shown === MASK) return Object.values(given).flatMap((one) => hiddenIn(one, MASK))
  const seen = (shown ?? {}) as JsonObject
  return Object.entries(given).flatMap(([name, one]) => hiddenIn(one, seen[name]))
}
