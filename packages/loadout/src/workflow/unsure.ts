/** Errors of a call with which a server may have done it, and nobody heard of it. */
export const UNSURE: ReadonlySet<string> = new Set([
  'server-timeout',
  'session-lost',
  'server-crashed',
  'protocol-error',
  'response-too-large',
  'internal',
  'cancelled',
  'outcome-unknown',
])
