/** The operator's limit, as far as it can be told: what holds is the lower of theirs and one's own. */
export const effectiveLimit = (own: number | undefined, holds: number | undefined): number | undefined =>
  holds !== undefined && (own === undefined || holds < own) ? holds : undefined
