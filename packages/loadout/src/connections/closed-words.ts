/**
 * What a server of the operator prints as it fails is the operator's to read: users learn that it failed, and how. What a
 * server answers to a user's own call is theirs.
 */
import { type ErrorCode, HostError } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { ToolkitState } from '../schema/toolkit.ts'
import { redact } from '../toolkits/redact.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

/** `refused-by-server` is not among them: it is the answer to the user's own request. */
const WORDS_OF_THE_SERVER = new Set<ErrorCode>([
  'server-crashed',
  'spawn-failed',
  'server-unreachable',
  'protocol-error',
  'malformed-list',
  'session-lost',
])

export const CLOSED_REASON = 'The server could not be reached.'

export function closedFor(error: unknown, { tier, toolkit, carried }: StoredToolkit, userId: string): unknown {
  if (tier !== 'app' || carried || userId === APP_OWNER || !HostError.is(error)) return error
  if (!WORDS_OF_THE_SERVER.has(error.code)) return error
  const { retryAfterMs } = error
  return new HostError(error.code, {
    detail: `The server of "${toolkit.id}" failed; its operator can see why.`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: error,
  })
}

/** What was said before it was closed, for those who may read it. */
export const openWords = (error: HostError): HostError =>
  HostError.is(error.cause) && error.cause.code === error.code ? error.cause : error

export function closedState(state: ToolkitState): ToolkitState {
  const { output: _, lastLine: __, ...open } = state
  if (state.status !== 'error') return open
  return { ...open, reason: CLOSED_REASON }
}

/** A server may print what it was given when it fails; what is told and stored of that has no secret in it. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!HostError.is(error)) return error
  const detail = redact(error.message, secrets)
  const output = error.output === undefined ? undefined : redact(error.output, secrets)
  if (detail === error.message && output === error.output) return error
  return error.with({ detail, ...(output === undefined ? {} : { output }) })
}
