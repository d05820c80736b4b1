/** Revokes tokens at the authorization server (RFC 7009), best effort: they are deleted here anyway. */
import { type AuthorizationServerMetadata, selectClientAuthMethod } from '@modelcontextprotocol/client'
import type { SignInTarget } from '../target.ts'
import type { SignInSession } from './session.ts'

export async function revoke(target: SignInTarget, session: SignInSession): Promise<boolean> {
  const endpoint = endpointOf(session.metadata)
  if (endpoint === undefined) return false
  const { access_token, refresh_token } = session.tokens
  // Revoking the refresh token should revoke the access token too; both are revoked for servers that do not.
  const tokens = [
    ['refresh_token', refresh_token],
    ['access_token', access_token],
  ].filter((entry): entry is [string, string] => entry[1] !== undefined)
  const results = await Promise.all(
    tokens.map(([hint, token]) => revokeToken(target, session, { endpoint, hint, token })),
  )
  return results.some(Boolean)
}

async function revokeToken(
  { fetch }: SignInTarget,
  { client, metadata }: SignInSession,
  { endpoint, hint, token }: { endpoint: URL; hint: string; token: string },
): Promise<boolean> {
  const body = new URLSearchParams({ token, token_type_hint: hint })
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' })
  const { client_id, client_secret = '' } = client
  const method = selectClientAuthMethod(client, methodsOf(metadata))
  if (method === 'client_secret_basic')
    headers.set(
      'authorization',
      `Basic ${btoa(`${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`)}`,
    )
  else body.set('client_id', client_id)
  if (method === 'client_secret_post') body.set('client_secret', client_secret)
  try {
    const response = await fetch(endpoint, { method: 'POST', headers, body: body.toString() })
    await response.body?.cancel().catch(() => {})
    return response.ok
  } catch {
    return false
  }
}

/** Auth methods of the revocation endpoint; default: those of the token endpoint (RFC 8414). */
function methodsOf(metadata: AuthorizationServerMetadata | undefined): string[] {
  const { revocation_endpoint_auth_methods_supported: own, token_endpoint_auth_methods_supported: usual } = (metadata ??
    {}) as Record<string, unknown>
  const named = own ?? usual
  return Array.isArray(named) ? named.filter((one) => typeof one === 'string') : []
}

function endpointOf(metadata: AuthorizationServerMetadata | undefined): URL | undefined {
  const named = (metadata as { revocation_endpoint?: unknown } | undefined)?.revocation_endpoint
  const url = typeof named === 'string' ? URL.parse(named) : null
  const local = url?.hostname === 'localhost' || url?.hostname === '127.0.0.1'
  return url && (url.protocol === 'https:' || (url.protocol === 'http:' && local)) ? url : undefined
}
