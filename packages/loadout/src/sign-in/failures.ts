/** What the SDK or an authorization server says when a sign-in fails, in our words: theirs are anybody's, and not shown. */
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

/** The code that an authorization server gave, where it is one. */
export const plainCode = (code: unknown) => (typeof code === 'string' && CODE.test(code) ? code : 'an unknown reason')

export function signInError(thrown: unknown): HostError {
  const known = findHostError(thrown)
  if (known) return known
  const failed = (detail: string, action?: string) =>
    new HostError('sign-in-failed', { detail, cause: thrown, ...(action ? { action } : {}) })
  if (thrown instanceof IssuerMismatchError || thrown instanceof AuthorizationServerMismatchError)
    return failed('The answer comes from another authorization server than the one that was asked.')
  if (thrown instanceof InsecureTokenEndpointError)
    return failed('The authorization server takes secrets without encryption (http).')
  if (thrown instanceof RegistrationRejectedError)
    return failed(
      'The authorization server does not register us by itself.',
      'Register an app there, and give the toolkit its clientId and clientSecret.',
    )
  if (thrown instanceof OAuthError) return failed(`The authorization server refused: ${plainCode(thrown.code)}.`)
  return failed(
    'The server offers no sign-in that can be used.',
    'Give the toolkit a token or a header, if it takes one.',
  )
}

const PASSING = new Set<string>([
  OAuthErrorCode.ServerError,
  OAuthErrorCode.TemporarilyUnavailable,
  OAuthErrorCode.TooManyRequests,
])

/** Whether the authorization server said no for good, and not only now. */
export const isFinal = (thrown: unknown) => thrown instanceof OAuthError && !PASSING.has(thrown.code)

function findHostError(thrown: unknown): HostError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++)
    if (HostError.is(error)) return error
  return undefined
}
