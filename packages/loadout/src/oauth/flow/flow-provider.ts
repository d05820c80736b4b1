/**
 * The SDK's OAuth provider for one sign-in. It returns no tokens, so that the SDK cannot refresh them. It returns
 * discovery only in `finishFlow`, so that a change of the authorization server is detected (SEP-2352). Results are in
 * `result`; the caller stores them.
 */
import type {
  AddClientAuthentication,
  DpopSession,
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { SignInFlow } from './flow.ts'

type Client = StoredOAuthClientInformation | undefined

export interface FlowProviderDeps {
  redirectUrl: string | undefined
  clientMetadata: OAuthClientMetadata
  clientMetadataUrl?: string | undefined
  state?: string | undefined
  dpop: DpopSession
  /** Existing client at an authorization server. */
  clientAt(issuer: string): Client | Promise<Client>
  /** Stored flow, when the callback is handled. */
  flow?: SignInFlow | undefined
  /** For grants without a user. */
  prepareTokenRequest?: OAuthClientProvider['prepareTokenRequest'] | undefined
  addClientAuthentication?: AddClientAuthentication | undefined
}

/** Data that the SDK saved during the flow. */
export interface FlowState {
  client?: StoredOAuthClientInformation
  discovery?: OAuthDiscoveryState
  verifier?: string
  url?: URL
  resource?: string
  tokens?: StoredOAuthTokens
}

export class FlowProvider implements OAuthClientProvider {
  readonly result: FlowState = {}
  readonly clientMetadata: OAuthClientMetadata
  readonly redirectUrl: string | undefined
  readonly #deps: FlowProviderDeps
  declare clientMetadataUrl?: string
  declare prepareTokenRequest?: NonNullable<OAuthClientProvider['prepareTokenRequest']>
  declare addClientAuthentication?: AddClientAuthentication

  constructor(deps: FlowProviderDeps) {
    this.#deps = deps
    this.redirectUrl = deps.redirectUrl
    this.clientMetadata = deps.clientMetadata
    if (deps.clientMetadataUrl !== undefined) this.clientMetadataUrl = deps.clientMetadataUrl
    if (deps.prepareTokenRequest) this.prepareTokenRequest = deps.prepareTokenRequest
    if (deps.addClientAuthentication) this.addClientAuthentication = deps.addClientAuthentication
  }

  state(): string {
    return this.#deps.state ?? ''
  }

  clientInformation(context?: OAuthClientInformationContext): Client | Promise<Client> {
    const { flow, clientAt } = this.#deps
    return flow?.client ?? this.result.client ?? (context && clientAt(context.issuer))
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.result.client = client
  }

  tokens(): undefined {
    return undefined
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.result.tokens = tokens
  }

  redirectToAuthorization(url: URL): void {
    this.result.url = url
  }

  saveCodeVerifier(verifier: string): void {
    this.result.verifier = verifier
  }

  codeVerifier(): string {
    return this.#deps.flow?.verifier ?? ''
  }

  saveResourceUrl(resource: string): void {
    this.result.resource = resource
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#deps.flow?.discovery
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.result.discovery = discovery
  }

  dpop(): DpopSession {
    return this.#deps.dpop
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') delete this.result.client
  }
}
