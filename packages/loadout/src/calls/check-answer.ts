import type { Question, QuestionAnswer } from '../connections/connection.ts'
import { HostError } from '../errors.ts'
import type { JsonObject } from '../schema/json.ts'
import { compileSchema } from '../schema/json-schema/validator.ts'
import { placesIn } from './places-in.ts'

/**
 * The answer as it goes to the server, with the form's defaults where a field was left out. What was accepted must fit
 * what was asked for; the errors name the place, so that it can be mended and sent again.
 */
export function checkAnswer({ mode, requestedSchema }: Question, answer: QuestionAnswer): QuestionAnswer {
  if (answer.action !== 'accept') return answer
  // A page that was opened gives its answer to its own server.
  if (mode === 'url' || requestedSchema === undefined) return { action: 'accept' }
  const content = { ...defaultsOf(requestedSchema), ...answer.content }
  const schema = compileSchema(requestedSchema)
  // A form that cannot be used is the server's own mistake; it still checks what it gets.
  const result = schema.ok ? schema.validate(content) : { valid: true as const }
  if (result.valid !== false) return { action: 'accept', content }
  const { errors, told } = placesIn('content', result.errors)
  throw new HostError('invalid-input', { detail: `The answer does not fit the question: ${told}`, errors })
}

function defaultsOf({ properties }: JsonObject): JsonObject {
  const fields = Object.entries(isObject(properties) ? properties : {})
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (isObject(field) && field.default !== undefined ? [[name, field.default]] : [])),
  )
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
