/**
 * Tool names for models: `mcp_<toolkit>_<tool>`, at most 64 characters that every provider accepts. Names are looked
 * up, never parsed. A shortened or cleaned name ends with a stable hash of the pair. If two tools still collide, the
 * first keeps the name and the other gets a longer hash.
 */
const MAX_LENGTH = 64
/** Length of the hash suffix. */
const HASH_LENGTH = 9

export function toolModelName(toolkit: string, tool: string): string {
  const clean = `mcp_${toolkit}_${tool}`.replace(/[^A-Za-z0-9_-]/g, '_')
  const exact = clean === `mcp_${toolkit}_${tool}` && clean.length <= MAX_LENGTH
  return exact ? clean : ending(clean, hashOf(JSON.stringify([toolkit, tool])))
}

/** Whether a name or ref may belong to a toolkit, by its prefix. */
export const mayBeOf = (toolkit: string, name: string): boolean =>
  name.startsWith(`${toolkit}.`) || name.startsWith(`mcp_${toolkit}_`.slice(0, MAX_LENGTH - HASH_LENGTH))

interface Named {
  modelName: string
  ref: string
}

/** New names for tools whose name an earlier tool has. Pass the tools that keep their names first. */
export function nameApart<T extends Named>(tools: Iterable<T>): ReadonlyMap<T, string> {
  const taken = new Set<string>()
  const renamed = new Map<T, string>()
  for (const tool of tools) {
    const name = taken.has(tool.modelName) ? freeName(tool, taken) : tool.modelName
    if (name !== tool.modelName) renamed.set(tool, name)
    taken.add(name)
  }
  return renamed
}

function freeName({ modelName: wanted, ref }: Named, taken: ReadonlySet<string>): string {
  for (let round = 0; ; round++) {
    const name = ending(wanted, hashOf(`${round} ${ref}`) + hashOf(`${ref} ${round}`))
    if (!taken.has(name)) return name
  }
}

const ending = (name: string, hash: string) => `${name.slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`

/** FNV-1a as 8 hexadecimal digits; stable across platforms. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}
