/** Annotations are claims. They may be tightened, by an operator, a user or a transformer, and never relaxed. */
import type { Annotations, ToolManifest } from '../../schema/toolkit/tool.ts'
import type { Toolkit } from '../../schema/toolkit/toolkit.ts'

/** Which value of a hint is the careful one. */
const CAREFUL = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const
type Hint = keyof typeof CAREFUL

/** The claims with those hints changed that are more careful than what was claimed. A title is no claim of effects. */
export function tighten(claimed: Annotations | undefined, wanted: Annotations | undefined): Annotations | undefined {
  if (wanted === undefined) return claimed
  const result: Annotations = { ...claimed }
  if (wanted.title !== undefined) result.title = wanted.title
  for (const hint of Object.keys(CAREFUL) as Hint[]) if (wanted[hint] === CAREFUL[hint]) result[hint] = CAREFUL[hint]
  return result
}

/** What holds of one tool of a toolkit: what its server claims, as its record tightens it. */
export function claimsOf(
  { overrides }: Pick<Toolkit, 'overrides'>,
  { name, annotations }: Pick<ToolManifest, 'name' | 'annotations'>,
): Annotations | undefined {
  return tighten(annotations, Object.hasOwn(overrides, name) ? overrides[name]?.annotations : undefined)
}
