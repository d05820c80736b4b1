/** The operator's limit if it is lower than the user's. */
export const effectiveLimit = (own: number | undefined, holds: number | undefined): number | undefined =>
  holds !== undefined && (own === undefined || holds < own) ? holds : undefined
