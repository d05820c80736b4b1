/**
 * The SDK's view of one sign-in. It never hands out tokens, so that the SDK cannot refresh behind our back; it knows what
 * was discovered only on the way back, so that a server that moves to another authorization server is noticed (SEP-2352);
 * and what it learns is kept by whoever made it, not by itself.
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
  /** The client at an authorization server, where there is one already. */
  clientAt(issuer: string): Client | Promise<Client>
  /** On the way back: what was known on the way there. */
  flow?: SignInFlow | undefined
  /** For grants without a person. */
  prepareTokenRequest?: OAuthClientProvider['prepareTokenRequest'] | undefined
  addClientAuthentication?: AddClientAuthentication | undefined
}

/** What came of it. */
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
