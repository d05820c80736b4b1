/** Limits of the layout, and the names that a wire format or a stored record fixes. */
export const MAX_FILES_PER_FOLDER = 20
export const MAX_FILES_PER_PREFIX = 3
/** Stages are named by the wrapper that they are. */
export const PREFIX_EXEMPT = new Set(['packages/loadout/src/calls/stages'])
/** `held` is a field of a tool in the HTTP API, `said` of a stored step: renaming one would change a contract. */
export const ALLOWED_NAMES: ReadonlySet<string> = new Set(['held', 'said'])
/** The same function for two platforms. */
export const SAME_NAME_EXEMPT = new Set(['withExecutionContext', 'setupToolkits', 'wordVectors'])
