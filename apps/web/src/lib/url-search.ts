/** Picks the named strings from URL search parameters. */
export function pickStrings<K extends string>(
  search: Record<string, unknown>,
  keys: readonly K[],
): { [P in K]?: string } {
  const picked: { [P in K]?: string } = {}
  for (const key of keys) {
    const value = search[key]
    // The router parses `?q=42` as a number and `?q=true` as a boolean.
    if (['string', 'number', 'boolean'].includes(typeof value)) picked[key] = String(value)
  }
  return picked
}

/** The router merges raw parameters with the validated ones, so `nothingElse` sets all others to undefined. */
export function nothingElse<S extends object>(read: (search: Record<string, unknown>) => S) {
  return (search: Record<string, unknown>): S => ({
    ...Object.fromEntries(Object.keys(search).map((key) => [key, undefined])),
    ...read(search),
  })
}
