/** Target of a sign-in: owner, server and settings. */
import type { FetchLike, OAuthClientMetadata } from '@modelcontextprotocol/client'
import type { SecretOwner } from '../credentials/credential-store.ts'
import { HostError } from '../errors.ts'
import type { Auth, RemoteServer } from '../schema/toolkit/server.ts'
import type { SignInSession } from './session/session.ts'

export type OAuthSettings = Omit<Extract<Auth, { type: 'oauth' }>, 'type'>

export interface SignInTarget {
  /** Owner of the tokens. */
  owner: SecretOwner
  /** Display name of the toolkit. */
  toolkit: string
  serverUrl: string
  /** OAuth settings with secrets filled in. */
  settings: OAuthSettings
  /** Guarded fetch from `oauthFetch`. */
  fetch: FetchLike
  /** Issuer that the toolkit's own client is bound to; binds it to `issuer` if it is unbound. */
  boundIssuer(issuer: string): Promise<string>
  /** Throws unless a user may be sent to the URL. */
  assertAllowed(url: URL): Promise<void>
}

export interface SignInOptions {
  /** URL that users return to after a sign-in. Without it nobody can sign in through this host. */
  redirectUrl?: string | (() => string | undefined)
  /** https URL of this host's client ID metadata document. */
  clientMetadataUrl?: string
  /** Name that authorization servers show. @default 'Loadout' */
  clientName?: string
}

export const oauthSettings = ({ auth }: RemoteServer): OAuthSettings => {
  if (auth.type !== 'oauth') return {}
  const { type: _type, ...settings } = auth
  return settings
}

/** Whether tokens are issued without a user. */
export const isClientCredentials = ({ grant = 'authorization_code' }: OAuthSettings) => grant !== 'authorization_code'

/** Whether a new token can be issued without the user. */
export const isRenewable = ({ tokens }: SignInSession, { settings }: Pick<SignInTarget, 'settings'>) =>
  tokens.refresh_token !== undefined || isClientCredentials(settings)

export function redirectUrlOf({ redirectUrl }: SignInOptions): string | undefined {
  return typeof redirectUrl === 'function' ? redirectUrl() : redirectUrl
}

/** Whether a session belongs to this server and client: a changed record does not inherit tokens. */
export function isFor(session: SignInSession, { serverUrl, settings }: SignInTarget): boolean {
  const { clientId } = settings
  return session.serverUrl === serverUrl && (clientId === undefined || session.client.client_id === clientId)
}

/** Client metadata for authorization servers. */
export function clientMetadataOf(options: SignInOptions, redirectUrl: string): OAuthClientMetadata {
  return {
    client_name: options.clientName ?? 'Loadout',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}

/** Throws unless the URL is a web page: https, or http on this machine. The guard has already checked the address. */
export function assertPage(url: URL): void {
  const local = url.hostname === 'localhost' || url.hostname === '127.0.0.1' || url.hostname === '[::1]'
  if (url.protocol === 'https:' || (url.protocol === 'http:' && local)) return
  throw new HostError('sign-in-failed', {
    detail: `The authorization server sends people to "${url.protocol.slice(0, 20)}", which is no page of the web.`,
  })
}
