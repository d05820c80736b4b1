/**
 * Restores masked secrets in edited arguments. A mask in its original position represents the secret. A mask anywhere
 * else is refused with its path, so that a tool never receives a mask.
 */

import type { FieldError } from '../../errors.ts'
import { type JsonObject, sameJson } from '../../schema/json.ts'
import { MASK } from '../../toolkits/secrets/redact.ts'
import { isObject } from '../../util/is-object.ts'

export interface Masked {
  /** Unmasked and masked arguments, with keys in the same order. */
  original: JsonObject
  masked: JsonObject
}

export type Restored = { arguments: JsonObject; errors: readonly FieldError[] }

export function restoreMasked({ original, masked }: Masked, edited: JsonObject): Restored {
  const errors: FieldError[] = []
  const misplaced = (path: string) =>
    errors.push({ path, message: `holds the mask ${MASK}, but no secret stood there` })
  const restore = (at: { was: unknown; seen: unknown; path: string }, value: unknown): unknown => {
    const { was, seen, path } = at
    // An unchanged value is restored as a whole.
    if (was !== undefined && sameJson(value, seen)) return was
    if (typeof value === 'string' && value.includes(MASK)) misplaced(path)
    if (Array.isArray(value))
      return value.map((inner, index) =>
        restore({ was: itemOf(was, index), seen: itemOf(seen, index), path: `${path}.${index}` }, inner),
      )
    if (!isObject(value)) return value
    const names = namesOf(was, seen)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const real = names.get(name)
        if (real === undefined && name.includes(MASK)) misplaced(`${path}.${name}`)
        const values = { was: real === undefined ? undefined : own(was, real), seen: own(seen, name) }
        return [real ?? name, restore({ ...values, path: `${path}.${name}` }, inner)]
      }),
    )
  }
  const restored = restore({ was: original, seen: masked, path: 'arguments' }, edited) as JsonObject
  return { arguments: restored, errors }
}

/** Maps masked names to real names by their order. */
function namesOf(was: unknown, seen: unknown): ReadonlyMap<string, string> {
  if (!isObject(was) || !isObject(seen)) return new Map()
  const hidden = Object.keys(was).filter((name) => !Object.hasOwn(seen, name))
  const masks = Object.keys(seen).filter((name) => !Object.hasOwn(was, name))
  const pairs = Object.keys(seen).map(
    (name) => [name, masks.includes(name) ? hidden[masks.indexOf(name)] : name] as const,
  )
  return new Map(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined))
}

const own = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

const itemOf = (value: unknown, index: number): unknown => (Array.isArray(value) ? value[index] : undefined)
