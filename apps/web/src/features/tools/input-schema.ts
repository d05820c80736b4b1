/**
 * Input schema for the form. A schema without arguments becomes an empty object schema, although JSON Schema would
 * allow any property.
 */
const SAYS_NOTHING = new Set(['type', '$schema', 'title', 'description'])

export function argumentsOf(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const names = Object.keys(schema)
  return names.every((name) => SAYS_NOTHING.has(name)) ? { ...schema, type: 'object', properties: {} } : schema
}
