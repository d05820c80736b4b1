/** A place inside a schema, as a linked path: cheap to extend however deep a schema goes. */
export interface Place {
  parent: Place | undefined
  key: string
}

const MAX_SHOWN = 12
const MAX_KEY = 60

export function inside(parent: Place | undefined, key: string | number): Place {
  return { parent, key: String(key) }
}

export function formatPath(place: Place | undefined): string {
  const keys: string[] = []
  for (let at = place; at; at = at.parent) keys.push(at.key.length > MAX_KEY ? `${at.key.slice(0, MAX_KEY)}…` : at.key)
  keys.reverse()
  if (keys.length === 0) return '(root)'
  return keys.length > MAX_SHOWN ? `${keys.slice(0, MAX_SHOWN).join('.')}…` : keys.join('.')
}
