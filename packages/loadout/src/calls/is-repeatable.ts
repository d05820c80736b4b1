import type { LoadoutEntry } from '../schema/loadout-entry.ts'

/**
 * Whether making a call twice does no more than making it once. A server's claim is enough here: where it is wrong, the harm of
 * a repetition is the server's own.
 */
export const isRepeatable = ({ manifest: { annotations } }: LoadoutEntry) =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true
