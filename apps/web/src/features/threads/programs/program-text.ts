/** Formats tool calls as program text. */
import type { Selection } from '../queries.ts'

type Schema = {
  type?: unknown
  properties?: Record<string, unknown>
  required?: unknown
  default?: unknown
  enum?: unknown
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** Formats a call such as `shop.list_orders({ id: '' })`. Toolkit ids use `_` instead of `-`. */
export function callText({
  toolkit,
  name,
  inputSchema,
}: Pick<Selection['tools'][number], 'toolkit' | 'name' | 'inputSchema'>): string {
  const kit = toolkit.replaceAll('-', '_')
  // A toolkit id may start with a digit, which an identifier cannot.
  const toolkitExpression = IDENTIFIER.test(kit) ? kit : `globalThis[${JSON.stringify(kit)}]`
  const tool = IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
  return `await ${toolkitExpression}${tool}(${argumentsText(inputSchema as Schema)})`
}

function argumentsText({ properties = {}, required }: Schema): string {
  const needed = Array.isArray(required) ? required.filter((key): key is string => typeof key === 'string') : []
  if (needed.length === 0) return '{}'
  const fields = needed.map((key) => {
    const field = IDENTIFIER.test(key) ? key : JSON.stringify(key)
    return `${field}: ${JSON.stringify(sample(properties[key] as Schema | undefined))}`
  })
  return `{ ${fields.join(', ')} }`
}

const SAMPLES: Record<string, unknown> = { number: 0, integer: 0, boolean: false, array: [], object: {}, null: null }

function sample(schema: Schema | undefined): unknown {
  if (schema?.default !== undefined) return schema.default
  if (Array.isArray(schema?.enum)) return schema.enum[0] ?? null
  return typeof schema?.type === 'string' && Object.hasOwn(SAMPLES, schema.type) ? SAMPLES[schema.type] : ''
}
