import { isRecord } from './keywords.ts'

const MAX_LENGTH = 1000

/** Resolves a reference inside a schema: a JSON pointer or an anchor in `$defs`. */
export function pointTo(root: unknown, ref: string): unknown {
  if (ref.length > MAX_LENGTH || !ref.startsWith('#')) return undefined
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return anchored(root, ref.slice(1))
  let at: unknown = root
  for (const part of ref.slice(2).split('/')) {
    const key = decoded(part)
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return at
}

function anchored(root: unknown, name: string): unknown {
  const containers = isRecord(root) ? [root.$defs, root.definitions] : []
  return containers
    .flatMap((container) => (isRecord(container) ? Object.values(container) : []))
    .find((schema) => isRecord(schema) && schema.$anchor === name)
}

function decoded(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
