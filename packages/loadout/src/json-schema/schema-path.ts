/** Path inside a schema as a linked list: cheap to extend at any depth. */
export interface SchemaPath {
  parent: SchemaPath | undefined
  key: string
}

const MAX_KEYS = 12
const MAX_KEY = 60

export function childPath(parent: SchemaPath | undefined, key: string | number): SchemaPath {
  return { parent, key: String(key) }
}

export function formatPath(path: SchemaPath | undefined): string {
  const keys: string[] = []
  for (let at = path; at; at = at.parent) keys.push(at.key.length > MAX_KEY ? `${at.key.slice(0, MAX_KEY)}…` : at.key)
  keys.reverse()
  if (keys.length === 0) return '(root)'
  return keys.length > MAX_KEYS ? `${keys.slice(0, MAX_KEYS).join('.')}…` : keys.join('.')
}
