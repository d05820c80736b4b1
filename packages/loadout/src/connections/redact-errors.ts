/**
 * Hides the output of app servers from users: users see that the server failed, operators see why. A server's response
 * to the user's own call is not hidden.
 */

import { type ErrorCode, HostError } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { Server } from '../schema/toolkit/server.ts'
import type { ToolkitState } from '../schema/toolkit/toolkit.ts'
import { isSecretName } from '../toolkits/secrets/looks-secret.ts'
import { redact } from '../toolkits/secrets/redact.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

/** `refused-by-server` is missing on purpose, because it responds to the user's own request. */
const SERVER_MESSAGE_CODES = new Set<ErrorCode>([
  'server-crashed',
  'spawn-failed',
  'server-unreachable',
  'protocol-error',
  'malformed-list',
  'session-lost',
])

export const REDACTED_REASON = 'The server could not be reached.'

export function redactForUser(error: unknown, { tier, toolkit, ephemeral }: StoredToolkit, userId: string): unknown {
  if (tier !== 'app' || ephemeral || userId === APP_OWNER || !HostError.is(error)) return error
  if (!SERVER_MESSAGE_CODES.has(error.code)) return error
  const { retryAfterMs } = error
  return new HostError(error.code, {
    detail: `The server of "${toolkit.id}" failed; its operator can see why.`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: error,
  })
}

/** The error before `redactForUser`, for operators. */
export const originalMessage = (error: HostError): HostError =>
  HostError.is(error.cause) && error.cause.code === error.code ? error.cause : error

export function redactState(state: ToolkitState): ToolkitState {
  const { output: _, lastLine: __, ...visible } = state
  if (state.status !== 'error') return visible
  return { ...visible, reason: REDACTED_REASON }
}

/** A failing server may print its secrets, so they are removed before an error is shown or stored. */
export function redactSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!HostError.is(error)) return error
  const detail = redact(error.message, secrets)
  const output = error.output === undefined ? undefined : redact(error.output, secrets)
  if (detail === error.message && output === error.output) return error
  return error.with({ detail, ...(output === undefined ? {} : { output }) })
}

/**
 * Turns a 401 or 403 into `credentials-refused` if the toolkit has its own credentials: they must be replaced, and
 * nobody can sign in. An existing sign-in link is kept.
 */
export function asCredentialsRefused(error: unknown, { toolkit, tier, ephemeral }: StoredToolkit): unknown {
  if (!HostError.is(error) || error.code !== 'sign-in-needed' || error.action.startsWith('http')) return error
  if (!hasOwnCredentials(toolkit.server)) return error
  const isAppToolkit = tier === 'app' && ephemeral === undefined
  const refused = (detail: string, action: string) =>
    new HostError('credentials-refused', { detail, action, cause: error })
  if ((error.cause as { status?: unknown } | undefined)?.status === 403)
    return refused(
      'The server answered 403: the credentials of the toolkit may not do this.',
      'Ask whoever runs the server for the permission, or give the toolkit a token that has it.',
    )
  return refused(
    'The server answered 401: it does not take the credentials of the toolkit.',
    isAppToolkit ? 'Ask the operator to replace the token of the toolkit.' : 'Replace the token of the toolkit.',
  )
}

/** Whether the server refused the credentials, so that its session is unusable. */
export const isRefused = (error: unknown): error is HostError =>
  HostError.is(error) && (error.code === 'sign-in-needed' || error.code === 'credentials-refused')

function hasOwnCredentials(server: Server): boolean {
  if (server.type !== 'http' && server.type !== 'sse') return false
  const { auth, headers, url } = server
  if (auth.type !== 'none') return auth.type !== 'oauth'
  return Object.keys(headers).some(isSecretName) || url.includes('${secret:')
}
