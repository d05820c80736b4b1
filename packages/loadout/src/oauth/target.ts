/** Whose sign-in to which server: what all of this folder works on. */
import type { FetchLike, OAuthClientMetadata } from '@modelcontextprotocol/client'
import type { SecretOwner } from '../credentials/credential-store.ts'
import { HostError } from '../errors.ts'
import type { Auth, RemoteServer } from '../schema/toolkit/server.ts'
import type { SignInSession } from './session/session.ts'

export type OAuthSettings = Omit<Extract<Auth, { type: 'oauth' }>, 'type'>

export interface SignInTarget {
  /** Who the tokens are for. */
  owner: SecretOwner
  /** The toolkit's name for people. */
  toolkit: string
  serverUrl: string
  /** With its secrets in it. */
  settings: OAuthSettings
  /** The guarded fetch, as `oauthFetch` makes it. */
  fetch: FetchLike
  /** Whose the toolkit's own client is, where it has one: this issuer's, where it was nobody's yet. */
  boundIssuer(issuer: string): Promise<string>
  /** Throws unless a person may be sent there. */
  assertAllowed(url: URL): Promise<void>
}

export interface SignInOptions {
  /** Where people come back to after they signed in. Without it nobody can sign in through this host. */
  redirectUrl?: string | (() => string | undefined)
  /** The https URL at which this host tells who it is (a client id metadata document). */
  clientMetadataUrl?: string
  /** What authorization servers show to people. @default 'Loadout' */
  clientName?: string
}

export const settingsOf = ({ auth }: RemoteServer): OAuthSettings => {
  if (auth.type !== 'oauth') return {}
  const { type: _type, ...settings } = auth
  return settings
}

/** Whether tokens are had without a person. */
export const isClientCredentials = ({ grant = 'authorization_code' }: OAuthSettings) => grant !== 'authorization_code'

/** Whether another token can be had without the person. */
export const isRenewable = ({ tokens }: SignInSession, { settings }: Pick<SignInTarget, 'settings'>) =>
  tokens.refresh_token !== undefined || isClientCredentials(settings)

export function redirectUrlOf({ redirectUrl }: SignInOptions): string | undefined {
  return typeof redirectUrl === 'function' ? redirectUrl() : redirectUrl
}

/** Whether a session is of this server and this client: a record that was changed does not inherit tokens. */
export function isFor(session: SignInSession, { serverUrl, settings }: SignInTarget): boolean {
  const { clientId } = settings
  return session.serverUrl === serverUrl && (clientId === undefined || session.client.client_id === clientId)
}

/** Who we are, for authorization servers. */
export function clientMetadataOf(options: SignInOptions, redirectUrl: string): OAuthClientMetadata {
  return {
    client_name: options.clientName ?? 'Loadout',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}

/**
 * A page that a person may be sent to: on the web, over https, or on this machine where `http` is all there is. The address
 * was judged by the guard; this is about what a browser would do with it.
 */
export function assertPage(url: URL): void {
  const local = url.hostname === 'localhost' || url.hostname === '127.0.0.1' || url.hostname === '[::1]'
  if (url.protocol === 'https:' || (url.protocol === 'http:' && local)) return
  throw new HostError('sign-in-failed', {
    detail: `The authorization server sends people to "${url.protocol.slice(0, 20)}", which is no page of the web.`,
  })
}
