import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import type { Annotations } from '../schema/tool.ts'

/** Whether making a call twice does no more than making it once, as the tool is said to be, with what was tightened of it. */
export const isRepeatable = ({ manifest }: { manifest: Pick<LoadoutEntry['manifest'], 'annotations'> }) =>
  isHarmless(manifest.annotations)

/** The harm of a repetition is that of the server which claims it to be none: a claim is enough. */
export const isHarmless = (annotations: Annotations | undefined) =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true
