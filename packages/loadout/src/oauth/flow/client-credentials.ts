/** Grants without a user: client credentials, a workload's assertion, or an enterprise identity provider. */
import {
  type AddClientAuthentication,
  auth,
  createPrivateKeyJwtAuth,
  DpopSession,
  generateDpopKeyPair,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'
import { signInError } from '../errors.ts'
import { type AuthAttempts, exportKey, NO_ATTEMPTS, type SignInSession } from '../session/session.ts'
import type { OAuthSettings, SignInTarget } from '../target.ts'
import { type Challenge, defined, issuerOf, sessionOf } from './authorize.ts'
import { FlowProvider } from './flow-provider.ts'
import { preregisteredClient } from './preregistered-client.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

export async function fetchClientCredentials(
  target: SignInTarget,
  challenge: Challenge,
  attempts: AuthAttempts = NO_ATTEMPTS,
): Promise<SignInSession> {
  const { serverUrl, fetch: fetchFn, settings } = target
  const { clientId } = settings
  if (clientId === undefined) throw missing('clientId')
  const key = await generateDpopKeyPair({ extractable: true })
  const provider: FlowProvider = new FlowProvider({
    redirectUrl: undefined,
    clientMetadata: metadataOf(settings),
    dpop: await DpopSession.create({ keyPair: key }),
    clientAt: (issuer) => preregisteredClient(target, { clientId, issuer }),
    prepareTokenRequest: once((scope) => createTokenRequest(target, provider, scope)),
    addClientAuthentication: authenticationOf(settings),
  })
  const scope = challenge.scope ?? settings.scopes?.join(' ')
  try {
    const { resourceMetadataUrl } = challenge
    await auth(provider, { serverUrl, fetchFn, ...defined({ scope, resourceMetadataUrl }) })
  } catch (error) {
    throw signInError(error)
  }
  const { tokens, discovery, resource } = provider.result
  if (!tokens || !discovery) throw new HostError('sign-in-failed')
  const client = await preregisteredClient(target, { clientId, issuer: issuerOf(discovery) })
  const dpopKey = await exportKey(key)
  return sessionOf({ serverUrl, resource, scope, ...attempts, client, discovery, dpopKey }, tokens)
}

/** A refused assertion is not sent again. */
function once(
  prepare: (scope: string | undefined) => Promise<URLSearchParams>,
): OAuthClientProvider['prepareTokenRequest'] {
  let used = false
  return (scope) => {
    if (used) throw new HostError('sign-in-failed', { detail: 'The authorization server refused the credentials.' })
    used = true
    return prepare(scope)
  }
}

async function createTokenRequest(target: SignInTarget, provider: FlowProvider, scope: string | undefined) {
  const { settings } = target
  const params = new URLSearchParams(defined({ scope }) as Record<string, string>)
  if (settings.grant === 'client_credentials') params.set('grant_type', 'client_credentials')
  else {
    params.set('grant_type', JWT_BEARER)
    params.set(
      'assertion',
      settings.grant === 'enterprise' ? await identityGrant(target, provider) : requireAssertion(settings),
    )
  }
  return params
}

function requireAssertion({ assertion }: OAuthSettings): string {
  if (assertion === undefined) throw missing('assertion')
  return assertion
}

/** Requests an identity assertion for this server from the identity provider (SEP-990). */
async function identityGrant({ settings, fetch: fetchFn }: SignInTarget, provider: FlowProvider): Promise<string> {
  const { idpTokenEndpoint, idpClientId, idpClientSecret, idToken } = settings
  if (idpTokenEndpoint === undefined) throw missing('idpTokenEndpoint')
  if (idpClientId === undefined) throw missing('idpClientId')
  if (idToken === undefined) throw missing('idToken')
  const { discovery, resource } = provider.result
  const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
    tokenEndpoint: idpTokenEndpoint,
    audience: issuerOf(discovery),
    resource: resource ?? '',
    idToken,
    clientId: idpClientId,
    fetchFn,
    ...defined({ clientSecret: idpClientSecret }),
  })
  return jwtAuthGrant
}

function metadataOf({ grant, clientSecret, privateKey }: OAuthSettings): OAuthClientMetadata {
  const method = privateKey ? 'private_key_jwt' : clientSecret === undefined ? 'none' : 'client_secret_basic'
  return {
    client_name: 'Loadout',
    redirect_uris: [],
    grant_types: [grant === 'client_credentials' ? 'client_credentials' : JWT_BEARER],
    token_endpoint_auth_method: method,
  }
}

function authenticationOf(settings: OAuthSettings): AddClientAuthentication | undefined {
  const { clientId = '', privateKey, algorithm = 'ES256' } = settings
  if (privateKey === undefined) return undefined
  return createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg: algorithm })
}

const missing = (field: string) =>
  new HostError('sign-in-failed', {
    detail: `The toolkit's auth has no ${field}.`,
    action: `Give auth.${field}, which its grant needs.`,
  })
