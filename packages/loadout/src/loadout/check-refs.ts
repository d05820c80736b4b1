/** Validates refs against a loadout and lists the valid ones in the error. */
import { HostError } from '../errors.ts'
import { compileRef } from '../schema/glob.ts'
import { parse } from '../schema/json.ts'
import { activationRef } from '../schema/toolkit/activation.ts'
import type { Loadout } from './overlay.ts'

const MAX_NAMES = 30

export interface RefCheck {
  /** Input path of the refs: `ref`, `toolkits`. */
  path: string
  /** Whether a glob may match nothing yet, for example one that denies. */
  mayFitNothing: boolean
}

/** Throws `invalid-input` with the path of each unknown ref and the valid names. */
export function assertRefs(refs: readonly string[], { entries, toolkits }: Loadout, check: RefCheck): void {
  parse(activationRef.array(), refs)
  const ids = [...new Set(toolkits.map(({ id }) => id))]
  const errors = refs.flatMap((ref, index) => {
    const { toolkit: kit, tool } = compileRef(ref)
    if (check.mayFitNothing && !(kit.literal && (tool?.literal ?? true))) return []
    const errorPath = check.path === 'ref' ? check.path : `${check.path}.${index}`
    if (ref !== '*' && !ids.some((id) => kit.matches(id)))
      return [{ path: errorPath, message: `"${ref}" names no toolkit of yours; there ${list(ids)}` }]
    if (!tool) return []
    const matching = entries.filter((entry) => kit.matches(entry.toolkit))
    // The tools of a toolkit that was never introspected are unknown.
    if (matching.length === 0 || matching.some((entry) => tool.matches(entry.tool))) return []
    return [{ path: errorPath, message: `"${ref}" names no tool; there ${list(matching.map((entry) => entry.ref))}` }]
  })
  if (errors.length > 0)
    throw new HostError('invalid-input', { detail: errors.map((error) => error.message).join('; '), errors })
}

function list(names: readonly string[]): string {
  if (names.length === 0) return 'are none'
  return `${names.length === 1 ? 'is' : 'are'} ${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}`
}
