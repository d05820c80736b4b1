/** Variables of every command. Python servers that build texts from sets list the same tools at every start with a fixed seed. */
export const STABLE_ENV = { PYTHONHASHSEED: '0' }
