/**
 * About how many characters a value takes as JSON, without making it. Escapes are not counted, and beyond so many values
 * it is a lower bound: it stands on the way of every call.
 */
const MOST_VALUES = 20_000

export function jsonSize(value: unknown): number {
  let left = MOST_VALUES
  const measure = (inner: unknown): number => {
    if (typeof inner === 'string') return inner.length + 2
    if (typeof inner === 'number') return inner < 10 && inner >= 0 ? 1 : String(inner).length
    if (typeof inner !== 'object' || inner === null) return inner === undefined ? 0 : 5
    let size = 2
    for (const name in inner) {
      if (left-- <= 0) break
      const element = (inner as Record<string, unknown>)[name]
      size += measure(element) + 1 + (Array.isArray(inner) ? 0 : name.length + 3)
    }
    return size
  }
  try {
    return measure(value)
  } catch {
    // Deeper than the stack; the validation before this refuses such a value.
    return 0
  }
}
