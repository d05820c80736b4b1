import type { OAuthClientProvider } from '@modelcontextprotocol/client'

/** A sign-in that gets as far as the metadata leads it. */
export const SIGN_IN: OAuthClientProvider = {
  redirectUrl: 'http://127.0.0.1/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
  clientInformation: () => ({ client_id: 'me' }),
  tokens: () => undefined,
  saveTokens: () => {},
  redirectToAuthorization: () => {},
  saveCodeVerifier: () => {},
  codeVerifier: () => 'verifier',
  saveDiscoveryState: () => {},
  discoveryState: () => undefined,
}
