/** What bounds the work: everything that takes time in proportion to something from outside pays to a meter. */

/** Units in one step of `maxSteps`: cheap inner work (a regex state, a key listed) costs a part of a keyword check. */
export const STEP = 8

/** What bounded work pays to. */
export interface Meter {
  readonly maxDepth: number
  spend(units: number): void
}

export class BudgetExceeded extends Error {}

/** The size of a schema, walked without recursion and given up at the limit: cyclic objects end here too. */

/** About the length of the JSON text, or undefined when it is over the limit. */
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
