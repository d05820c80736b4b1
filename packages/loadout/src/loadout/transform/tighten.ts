/** Tightens annotations. Operators, users and transformers can make them stricter, never looser. */
import type { Annotations, ToolManifest } from '../../schema/toolkit/tool.ts'
import type { Toolkit } from '../../schema/toolkit/toolkit.ts'

/** The strict value of each hint. */
const CAREFUL = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const
type Hint = keyof typeof CAREFUL

/** Applies the stricter hints. The title has no effect on decisions and may change. */
export function tightenAnnotations(
  claimed: Annotations | undefined,
  wanted: Annotations | undefined,
): Annotations | undefined {
  if (wanted === undefined) return claimed
  const result: Annotations = { ...claimed }
  if (wanted.title !== undefined) result.title = wanted.title
  for (const hint of Object.keys(CAREFUL) as Hint[]) if (wanted[hint] === CAREFUL[hint]) result[hint] = CAREFUL[hint]
  return result
}

/** Annotations of a tool after the overrides of its toolkit. */
export function claimsOf(
  { overrides }: Pick<Toolkit, 'overrides'>,
  { name, annotations }: Pick<ToolManifest, 'name' | 'annotations'>,
): Annotations | undefined {
  return tightenAnnotations(annotations, Object.hasOwn(overrides, name) ? overrides[name]?.annotations : undefined)
}
