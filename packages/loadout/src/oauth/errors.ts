/**
 * Maps sign-in failures of the SDK and of authorization servers to our own messages. Their texts are untrusted and not
 * shown.
 */
import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  OAuthErrorCode,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'

const CODE = /^[a-z][a-z_]{1,60}$/

/** OAuth error code, if it is well-formed. */
export const errorCode = (code: unknown) => (typeof code === 'string' && CODE.test(code) ? code : 'an unknown reason')

export function signInError(thrown: unknown): HostError {
  const hostError = findHostError(thrown)
  if (hostError) return hostError
  const failed = (detail: string, action?: string) =>
    new HostError('sign-in-failed', { detail, cause: thrown, ...(action ? { action } : {}) })
  if (thrown instanceof IssuerMismatchError) return failed(...mismatch(thrown))
  if (thrown instanceof AuthorizationServerMismatchError)
    return failed(
      `The client was registered at issuer ${formatIssuer(thrown.recordedIssuer)}, but the server now names ${formatIssuer(thrown.currentIssuer)}.`,
      'If the server moved, remove the client ID and secret from the toolkit or replace them with those of the new issuer.',
    )
  if (thrown instanceof InsecureTokenEndpointError)
    return failed('The authorization server takes secrets without encryption (http).')
  if (thrown instanceof RegistrationRejectedError)
    return failed(
      'The authorization server does not register us by itself.',
      'Register an app there, and give the toolkit its clientId and clientSecret.',
    )
  if (thrown instanceof OAuthError) return failed(`The authorization server refused: ${errorCode(thrown.code)}.`)
  return failed(
    'The server offers no sign-in that can be used.',
    'Give the toolkit a token or a header, if it takes one.',
  )
}

/** The server requires credentials and describes no sign-in, so only a token can help. */
export const tokenNeeded = (cause: unknown) =>
  new HostError('sign-in-failed', {
    detail: 'The server answered 401 and offers no sign-in.',
    action: 'Add a token or header to this server.',
    cause,
  })

/** Names both issuers and who can fix the mismatch; another sign-in gives the same result. */
function mismatch({ kind, expected, received }: IssuerMismatchError): [detail: string, action: string] {
  if (kind === 'metadata')
    return [
      `The sign-in metadata at ${formatIssuer(expected)} names another issuer: ${formatIssuer(received)}.`,
      `Ask whoever runs the server to set \`issuer\` to ${formatIssuer(expected)}; signing in again does not help.`,
    ]
  return [
    `The sign-in was started at issuer ${formatIssuer(expected)}, but the answer names ${formatIssuer(received)}.`,
    'Do not use that answer: it may come from another server. Report it to whoever runs the authorization server.',
  ]
}

const MAX_ISSUER_LENGTH = 200

/** An issuer is untrusted text, so only an http(s) URL is shown. */
function formatIssuer(issuer: string | undefined): string {
  if (issuer === undefined) return 'none'
  const url = issuer.length <= MAX_ISSUER_LENGTH ? URL.parse(issuer) : null
  return url?.protocol.startsWith('http') ? `\`${url.origin}${url.pathname}\`` : 'a text that is no URL'
}

const TRANSIENT_CODES = new Set<string>([
  OAuthErrorCode.ServerError,
  OAuthErrorCode.TemporarilyUnavailable,
  OAuthErrorCode.TooManyRequests,
])

/** Whether the authorization server's refusal is permanent. */
export const isFinal = (thrown: unknown) => thrown instanceof OAuthError && !TRANSIENT_CODES.has(thrown.code)

function findHostError(thrown: unknown): HostError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++)
    if (HostError.is(error)) return error
  return undefined
}
