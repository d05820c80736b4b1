/**
 * OIDC provider requests: discovery, keys, tokens and user info. All use the given `ask` fetch (operator's proxy and
 * certificates) with a size and time limit. ID token claims count only after better-auth verified signature, issuer,
 * audience, time and nonce.
 */

import type { createGuardedFetch } from '@loadout/core/node'
import {
  authorizationCodeRequest,
  createAuthorizationURL,
  getOAuth2Tokens,
  type OAuthProvider,
  verifyProviderIdToken,
} from 'better-auth/oauth2'
import { z } from 'zod'
import { OIDC, type OidcSettings } from './better-auth.ts'
import { providerKeys } from './provider-keys.ts'

export type ProviderFetch = ReturnType<typeof createGuardedFetch>['documents']

export interface ProviderDeps {
  settings: OidcSettings
  ask: ProviderFetch
  /** Callback URL of the provider. */
  redirectUri: string
  signUp: boolean
}

const TIMEOUT_MS = 10_000
const SCOPES = ['openid', 'profile', 'email']

const httpUrl = z.url({ protocol: /^https?$/ })
/** Only asymmetric algorithms: with a shared secret, the client could forge tokens. */
const isOfKeyPair = (alg: string) => /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/.test(alg)
const description = z.object({
  issuer: httpUrl,
  authorization_endpoint: httpUrl,
  token_endpoint: httpUrl,
  jwks_uri: httpUrl,
  userinfo_endpoint: httpUrl.optional(),
  id_token_signing_alg_values_supported: z
    .array(z.string())
    .transform((algs) => algs.filter(isOfKeyPair))
    .pipe(z.array(z.string()).min(1)),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
})
type Description = z.infer<typeof description>

const claims = z.looseObject({
  sub: z.string().min(1),
  email: z.string().optional(),
  email_verified: z.unknown().optional(),
  name: z.unknown().optional(),
})
type Claims = z.infer<typeof claims>

/** Throws if the provider does not answer or its metadata is incomplete. */
export async function discoverProvider(deps: ProviderDeps): Promise<OAuthProvider<Claims>> {
  const { settings, ask } = deps
  const url = `${settings.issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
  const described = description.parse(await jsonOf(ask(url, { signal: requestTimeout() })))
  const provider: OAuthProvider<Claims> = {
    id: OIDC,
    name: settings.name,
    issuer: described.issuer,
    requiresIdTokenNonce: true,
    disableSignUp: !deps.signUp,
    options: { disableSignUp: !deps.signUp },
    idToken: {
      jwks: providerKeys(() => ask(described.jwks_uri, { signal: requestTimeout() }).then(jsonOf)),
      issuer: described.issuer,
      audience: settings.clientId,
      algorithms: described.id_token_signing_alg_values_supported,
    },
    accountSubject: ({ profile }) => profile.sub,
    createAuthorizationURL: ({ state, codeVerifier, redirectURI, idTokenNonce }) =>
      createAuthorizationURL({
        id: OIDC,
        options: clientOf(deps),
        authorizationEndpoint: described.authorization_endpoint,
        state,
        codeVerifier,
        redirectURI,
        scopes: SCOPES,
        ...(idTokenNonce === undefined ? {} : { nonce: idTokenNonce }),
      }),
    validateAuthorizationCode: (input) => tokensFor(input, described, deps),
    async getUserInfo({ idToken, accessToken, expectedIdTokenNonce: nonce }) {
      if (!idToken || !nonce || !(await verifyProviderIdToken(provider, idToken, nonce))) return null
      const profile = await profileOf(idToken, { accessToken, described, ask }).catch(() => undefined)
      return profile ? { user: userOf(profile, settings), data: profile } : null
    },
  }
  return provider
}

const clientOf = ({ settings: { clientId, clientSecret }, redirectUri }: ProviderDeps) => ({
  clientId,
  clientSecret,
  redirectURI: redirectUri,
})

interface CodeInput {
  code: string
  redirectURI: string
  codeVerifier?: string | undefined
}

async function tokensFor({ code, redirectURI, codeVerifier }: CodeInput, described: Description, deps: ProviderDeps) {
  const methods = described.token_endpoint_auth_methods_supported ?? ['client_secret_post']
  const { body, headers } = await authorizationCodeRequest({
    code,
    redirectURI,
    options: clientOf(deps),
    tokenEndpoint: described.token_endpoint,
    ...(codeVerifier === undefined ? {} : { codeVerifier }),
    authentication: methods.includes('client_secret_post') ? 'post' : 'basic',
  })
  // `redirect: 'manual'`, so that the client secret is sent to no other host.
  const init = { method: 'POST', body: body.toString(), headers, redirect: 'manual' as const, signal: requestTimeout() }
  return getOAuth2Tokens((await jsonOf(deps.ask(described.token_endpoint, init))) as Record<string, unknown>)
}

interface ProfileSources {
  accessToken: string | undefined
  described: Description
  ask: ProviderFetch
}

/** Many providers return the email only from the userinfo endpoint. Its `sub` must match the ID token. */
async function profileOf(idToken: string, { accessToken, described, ask }: ProfileSources): Promise<Claims> {
  const idClaims = claims.parse(payloadOf(idToken))
  if (idClaims.email !== undefined || described.userinfo_endpoint === undefined || accessToken === undefined)
    return idClaims
  const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json' }
  const init = { headers, redirect: 'manual' as const, signal: requestTimeout() }
  const userInfo = claims.parse(await jsonOf(ask(described.userinfo_endpoint, init)))
  return userInfo.sub === idClaims.sub
    ? { ...userInfo, ...idClaims, email: userInfo.email, email_verified: userInfo.email_verified }
    : idClaims
}

const userOf = ({ email, email_verified, name }: Claims, { trustEmail }: OidcSettings) => ({
  email,
  emailVerified: trustEmail || email_verified === true,
  name: String(name ?? email ?? ''),
})

const requestTimeout = () => AbortSignal.timeout(TIMEOUT_MS)

const payloadOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))

async function jsonOf(request: Response | Promise<Response>): Promise<unknown> {
  const answer = await request
  if (answer.status === 200) return answer.json()
  await answer.body?.cancel()
  throw new Error(`The sign-in provider answered ${answer.status}.`)
}
