/** What a tool takes, as a form draws it: one that names no argument takes none, though JSON Schema would let anything in. */
const SAYS_NOTHING = new Set(['type', '$schema', 'title', 'description'])

export function argumentsOf(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const names = Object.keys(schema)
  return names.every((name) => SAYS_NOTHING.has(name)) ? { ...schema, type: 'object', properties: {} } : schema
}
