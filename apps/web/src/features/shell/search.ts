/** The named texts of an address, and nothing else that somebody wrote there. */
export function pickStrings<K extends string>(
  search: Record<string, unknown>,
  keys: readonly K[],
): { [P in K]?: string } {
  const picked: { [P in K]?: string } = {}
  for (const key of keys) {
    const value = search[key]
    // The router reads `?q=42` as a number.
    if (typeof value === 'string' || typeof value === 'number') picked[key] = String(value)
  }
  return picked
}
