/** The named texts of an address, and nothing else that somebody wrote there. */
export function pickStrings<K extends string>(
  search: Record<string, unknown>,
  keys: readonly K[],
): { [P in K]?: string } {
  const picked: { [P in K]?: string } = {}
  for (const key of keys) {
    const value = search[key]
    // The router reads `?q=42` as a number, and `?q=true` as a boolean.
    if (['string', 'number', 'boolean'].includes(typeof value)) picked[key] = String(value)
  }
  return picked
}

/**
 * A route hands its page everything that stands in the address, with what its reader gave over it: what the reader left out
 * would be there as somebody wrote it. So it is named, as nothing.
 */
export function nothingElse<S extends object>(read: (search: Record<string, unknown>) => S) {
  return (search: Record<string, unknown>): S => ({
    ...Object.fromEntries(Object.keys(search).map((key) => [key, undefined])),
    ...read(search),
  })
}
