/** Budget of a validation: all work in proportion to external input is charged to a meter. */

/**
 * Units in one step of `maxSteps`: cheap inner work (a regex state, a listed key) costs a fraction of a keyword check.
 */
export const STEP = 8

/** Budget that bounded work charges. */
export interface WorkMeter {
  readonly maxDepth: number
  spend(units: number): void
}

export class BudgetExceeded extends Error {}

/**
 * Approximate JSON length of a schema, or undefined above the limit. Iterative and bounded, so cyclic objects end here
 * too.
 */
export function measure(schema: unknown, maxBytes: number): number | undefined {
  const open: unknown[] = [schema]
  let size = 0
  while (open.length > 0) {
    const value = open.pop()
    size += 1
    if (typeof value === 'string') size += value.length + 1
    else if (typeof value === 'object' && value !== null) size += measureChildren(value, open, maxBytes - size)
    else size += 3
    if (size > maxBytes) return undefined
  }
  return size
}

function measureChildren(value: object, open: unknown[], left: number): number {
  if (Array.isArray(value)) {
    if (value.length > left) return value.length
    for (const item of value) open.push(item)
    return 1
  }
  let size = 1
  for (const key of Object.keys(value)) {
    size += key.length + 3
    if (size > left) return size
    open.push((value as Record<string, unknown>)[key])
  }
  return size
}
