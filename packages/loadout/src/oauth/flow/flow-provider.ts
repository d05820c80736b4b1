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
  readonly learned: FlowState = {}
  readonly clientMetadata: OAuthClientMetadata
  readonly redirectUrl: string | undefined
  readonly #parts: FlowProviderDeps
  declare clientMetadataUrl?: string
  declare prepareTokenRequest?: NonNullable<OAuthClientProvider['prepareTokenRequest']>
  declare addClientAuthentication?: AddClientAuthentication

  constructor(parts: FlowProviderDeps) {
    this.#parts = parts
    this.redirectUrl = parts.redirectUrl
    this.clientMetadata = parts.clientMetadata
    if (parts.clientMetadataUrl !== undefined) this.clientMetadataUrl = parts.clientMetadataUrl
    if (parts.prepareTokenRequest) this.prepareTokenRequest = parts.prepareTokenRequest
    if (parts.addClientAuthentication) this.addClientAuthentication = parts.addClientAuthentication
  }

  state(): string {
    return this.#parts.state ?? ''
  }

  clientInformation(context?: OAuthClientInformationContext): Client | Promise<Client> {
    const { flow, clientAt } = this.#parts
    return flow?.client ?? this.learned.client ?? (context && clientAt(context.issuer))
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.learned.client = client
  }

  tokens(): undefined {
    return undefined
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.learned.tokens = tokens
  }

  redirectToAuthorization(url: URL): void {
    this.learned.url = url
  }

  saveCodeVerifier(verifier: string): void {
    this.learned.verifier = verifier
  }

  codeVerifier(): string {
    return this.#parts.flow?.verifier ?? ''
  }

  saveResourceUrl(resource: string): void {
    this.learned.resource = resource
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#parts.flow?.discovery
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.learned.discovery = discovery
  }

  dpop(): DpopSession {
    return this.#parts.dpop
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') delete this.learned.client
  }
}
