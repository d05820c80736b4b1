/** Authorization code flow: `beginFlow` creates the link, `finishFlow` exchanges the code. */
import {
  auth,
  DpopSession,
  fetchToken,
  generateDpopKeyPair,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'
import { signInError, tokenNeeded } from '../errors.ts'
import { type AuthAttempts, exportKey, importDpopKey, type SignInSession, sessionEnd } from '../session/session.ts'
import { assertPage, clientMetadataOf, type SignInOptions, type SignInTarget } from '../target.ts'
import type { SignInFlow } from './flow.ts'
import { FlowProvider, type FlowProviderDeps } from './flow-provider.ts'
import { preregisteredClient } from './preregistered-client.ts'

/** Challenge of the server's 401 or 403. */
export interface Challenge {
  resourceMetadataUrl?: URL | undefined
  scope?: string | undefined
}

/** Registered clients by issuer. */
export type Clients = Record<string, StoredOAuthClientInformation>

export interface Begin {
  target: SignInTarget
  redirectUrl: string
  options: SignInOptions
  challenge: Challenge
  clients: Clients
  state: string
  attempts: AuthAttempts
}

const FLOW_MS = 10 * 60_000

export async function beginFlow(begin: Begin): Promise<SignInFlow> {
  const { target, redirectUrl, options, challenge, state, attempts } = begin
  const { serverUrl, fetch: fetchFn, settings } = target
  const key = await generateDpopKeyPair({ extractable: true })
  const scope = challenge.scope ?? settings.scopes?.join(' ')
  const provider = new FlowProvider({
    redirectUrl,
    clientMetadata: clientMetadataOf(options, redirectUrl),
    clientMetadataUrl: options.clientMetadataUrl,
    state,
    dpop: await DpopSession.create({ keyPair: key }),
    clientAt: clientsFor(begin),
  })
  try {
    const { resourceMetadataUrl } = challenge
    await auth(provider, { serverUrl, fetchFn, ...defined({ scope, resourceMetadataUrl }) })
  } catch (error) {
    throw offersNoSignIn(provider, begin) ? tokenNeeded(error) : signInError(error)
  }
  const { url, verifier, discovery, client, resource } = provider.result
  const usedClient = client ?? (await provider.clientInformation({ issuer: issuerOf(discovery) }))
  if (!url || verifier === undefined || !discovery || !usedClient) throw new HostError('sign-in-failed')
  assertPage(url)
  await target.assertAllowed(url)
  return {
    state,
    url: url.href,
    verifier,
    discovery,
    client: usedClient,
    redirectUrl,
    serverUrl,
    resource,
    scope: url.searchParams.get('scope') ?? undefined,
    ...attempts,
    dpopKey: await exportKey(key),
    expiresAt: Date.now() + FLOW_MS,
  }
}

/** Whether the server's origin describes no sign-in: neither resource metadata nor authorization server metadata. */
function offersNoSignIn({ result }: FlowProvider, { challenge, target }: Begin): boolean {
  const { resourceMetadata, authorizationServerMetadata } = result.discovery ?? {}
  const isDescribed = resourceMetadata !== undefined || authorizationServerMetadata !== undefined
  return result.discovery !== undefined && !isDescribed && !challenge.resourceMetadataUrl && !target.settings.clientId
}

/** Parameters of the callback. */
export interface Returned {
  code: string
  iss?: string | undefined
}

export async function finishFlow(target: SignInTarget, flow: SignInFlow, returned: Returned): Promise<SignInSession> {
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = flow.discovery
  const key = await importDpopKey(flow.dpopKey)
  const { redirectUrl, resource, scope } = flow
  const provider = new FlowProvider({
    redirectUrl,
    clientMetadata: clientMetadataOf({}, redirectUrl),
    dpop: await DpopSession.create({ keyPair: key }),
    clientAt: () => flow.client,
    flow,
  })
  const { code: authorizationCode, iss } = returned
  try {
    validateAuthorizationResponseIssuer({
      ...defined({ iss, expectedIssuer: metadata?.issuer }),
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    } as Parameters<typeof validateAuthorizationResponseIssuer>[0])
    const tokens = await fetchToken(provider, authorizationServerUrl, {
      authorizationCode,
      fetchFn: target.fetch,
      ...defined({ metadata, resource, iss, scope }),
    })
    return sessionOf(flow, tokens)
  } catch (error) {
    throw signInError(error)
  }
}

export type TokenOrigin = Pick<
  SignInFlow,
  'serverUrl' | 'resource' | 'scope' | 'repeats' | 'stepUps' | 'client' | 'discovery'
> & {
  /** Undefined if the tokens are not bound to a DPoP key. */
  dpopKey: SignInFlow['dpopKey'] | undefined
}

/** Creates the stored session of any grant. */
export function sessionOf(origin: TokenOrigin, tokens: StoredOAuthTokens): SignInSession {
  const { serverUrl, resource, scope, repeats, stepUps, client, discovery, dpopKey } = origin
  return {
    serverUrl,
    authorizationServerUrl: discovery.authorizationServerUrl,
    issuer: issuerOf(discovery),
    metadata: discovery.authorizationServerMetadata,
    resource,
    client,
    tokens,
    expiresAt: sessionEnd(tokens),
    obtainedAt: Date.now(),
    scope,
    repeats,
    stepUps,
    dpopKey,
  }
}

export const issuerOf = (discovery: SignInFlow['discovery'] | undefined) =>
  discovery?.authorizationServerMetadata?.issuer ?? discovery?.authorizationServerUrl ?? ''

/** The toolkit's own client, or the one registered at the issuer. */
function clientsFor({ target, clients }: Begin): FlowProviderDeps['clientAt'] {
  const { clientId } = target.settings
  return (issuer) => (clientId === undefined ? clients[issuer] : preregisteredClient(target, { clientId, issuer }))
}

export function defined<T extends Record<string, unknown>>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never
}
