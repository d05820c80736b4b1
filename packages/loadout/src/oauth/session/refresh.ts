/** Refreshes an access token. A final refusal ends the session; a temporary failure is thrown. */
import { DpopSession, refreshAuthorization } from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'
import { isFinal } from '../errors.ts'
import { defined } from '../flow/authorize.ts'
import type { SignInTarget } from '../target.ts'
import { importDpopKey, type SignInSession, sessionEnd } from './session.ts'

/**
 * Returns the refreshed session; undefined if the user must sign in. A session whose token is still valid (`holds`) is
 * kept.
 */
export async function renewSession(
  target: SignInTarget,
  session: SignInSession,
  holds: boolean,
): Promise<SignInSession | undefined> {
  const { tokens, client, metadata, resource, authorizationServerUrl } = session
  if (tokens.refresh_token === undefined) return holds ? session : undefined
  try {
    const next = await refreshAuthorization(authorizationServerUrl, {
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      fetchFn: target.fetch,
      ...defined({ metadata, resource, dpop: await dpopOf(session) }),
    })
    const renewed = { ...next, refresh_token: next.refresh_token ?? tokens.refresh_token, issuer: session.issuer }
    return { ...session, tokens: renewed, expiresAt: sessionEnd(next), obtainedAt: Date.now() }
  } catch (error) {
    if (isFinal(error)) return holds ? withoutRefresh(session) : undefined
    if (HostError.is(error)) throw error
    throw new HostError('server-unreachable', {
      detail: 'The authorization server does not give a new token now.',
      cause: error,
    })
  }
}

/** Drops a refused refresh token, so that it is not used again. */
function withoutRefresh(session: SignInSession): SignInSession {
  const { refresh_token: _gone, ...tokens } = session.tokens
  return { ...session, tokens }
}

export async function dpopOf({ dpopKey }: SignInSession): Promise<DpopSession | undefined> {
  if (dpopKey === undefined) return undefined
  const keyPair = await importDpopKey(dpopKey)
  return DpopSession.create({ keyPair })
}
