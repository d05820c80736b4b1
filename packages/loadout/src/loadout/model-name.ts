/** The name that a model sees: `mcp_<toolkit>_<tool>`, of at most 64 characters that every provider takes. */
const LONGEST = 64

export function modelName(toolkit: string, tool: string): string {
  const clean = `mcp_${toolkit}_${tool}`.replace(/[^A-Za-z0-9_-]/g, '_')
  // With a "_" in the toolkit's id the dividing line would be a guess: a_b and c, or a and b_c.
  const exact = clean === `mcp_${toolkit}_${tool}` && clean.length <= LONGEST && !toolkit.includes('_')
  if (exact) return clean
  // Cut or cleaned, two tools could look alike; the hash of the pair tells them apart and stays the same for ever.
  const hash = hashOf(JSON.stringify([toolkit, tool]))
  return `${clean.slice(0, LONGEST - hash.length - 1)}_${hash}`
}

/** FNV-1a: eight hexadecimal digits, the same everywhere. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}
