/** What a mask hides: the values of arguments that stand masked in what is shown of them. Bounded, as what is shown is. */
import type { JsonObject } from '../schema/json.ts'

const MOST = 1000
/** Longer than any message: of more than this only the beginning can stand in one. */
const LONGEST = 4096
const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

export function hiddenIn(args: JsonObject, shown: JsonObject): string[] {
  const hidden: string[] = []
  const waiting: Array<[unknown, unknown]> = [[args, shown]]
  for (let next = waiting.pop(); next && hidden.length < MOST; next = waiting.pop()) {
    const [value, mask] = next
    if (!isBranch(value)) {
      if (value !== mask && value !== undefined) hidden.push(String(value).slice(0, LONGEST))
      continue
    }
    // In their order: a name that is a secret is masked too. What stands behind a mask is hidden as a whole.
    const masks = isBranch(mask) ? Object.values(mask) : undefined
    for (const [index, inner] of Object.values(value).entries()) waiting.push([inner, masks?.[index]])
  }
  return hidden
}
