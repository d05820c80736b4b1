/** Environment of every command. A fixed hash seed makes Python servers list the same tools at every start. */
export const STABLE_ENV = { PYTHONHASHSEED: '0' }
