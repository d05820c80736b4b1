/**
 * OpenID Connect sign-in. Discovery happens with the first sign-in, so an unreachable provider does not stop the
 * server, and a failure is retried. better-auth handles state, PKCE, nonce and token signatures.
 */
import { HostError } from '@loadout/core'
import { joinUrl } from '../http/base-path.ts'
import type { Log } from '../ops/log.ts'
import { type Auth, type AuthOptions, createAuth, OIDC, type OidcSettings } from './better-auth.ts'
import { isLocalPath } from './input-limits.ts'
import { discoverProvider, type ProviderFetch } from './oidc-provider.ts'
import { type ClientInfo, cookiesOf, forwardedHeaders } from './sessions.ts'

export interface Oidc {
  name: string
  /** Returns the provider URL and the cookies for the browser. */
  start(visitor: ClientInfo, returnTo: string): Promise<{ url: string; cookies: string[] }>
  /** Returns the path to continue at: the requested page, or the sign-in page with a problem. */
  finish(visitor: ClientInfo, query: Record<string, string | undefined>): Promise<{ url: string; cookies: string[] }>
}

/** better-auth error codes as problem codes of the sign-in page. */
const PROBLEMS: Readonly<Record<string, string>> = {
  signup_disabled: 'no-account',
  account_not_linked: 'no-account',
  unable_to_link_account: 'no-account',
  email_not_verified: 'no-account',
  email_not_found: 'no-account',
  state_mismatch: 'sign-in-link-invalid',
  state_not_found: 'sign-in-link-invalid',
  state_invalid: 'sign-in-link-invalid',
  please_restart_the_process: 'sign-in-link-invalid',
}

export interface OidcDeps {
  options: () => AuthOptions
  settings: OidcSettings
  /** Whether a provider user without an account gets one. */
  signUp: boolean
  ask: ProviderFetch
  log: Log
}

export function createOidc({ options, settings, signUp, ask, log }: OidcDeps): Oidc {
  let opened: Promise<Auth> | undefined
  const open = async (): Promise<Auth> => {
    const authOptions = options()
    const redirectUri = joinUrl(authOptions.baseUrl, '/api/auth/oidc/callback')
    const provider = await discoverProvider({ settings, ask, redirectUri, signUp }).catch((err) => {
      log.warn({ err, issuer: settings.issuer }, 'the sign-in provider cannot be asked')
      throw unreachable('does not answer, or does not say what is needed')
    })
    if (withoutSlash(provider.issuer) !== withoutSlash(settings.issuer))
      throw unreachable('calls itself by another name than LOADOUT_OIDC_ISSUER')
    return createAuth({ ...authOptions, provider })
  }
  const signInPath = () => new URL(joinUrl(options().baseUrl, '/sign-in')).pathname
  const ready = () => {
    opened ??= open().catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    name: settings.name,
    async start(visitor, returnTo) {
      const auth = await ready()
      const body = { provider: OIDC, callbackURL: returnTo, errorCallbackURL: signInPath(), disableRedirect: true }
      const { headers, response } = await auth.api.signInSocial({
        body,
        headers: forwardedHeaders(visitor),
        returnHeaders: true,
      })
      if (response.url === undefined) throw unreachable('has no page to sign in at')
      return { url: response.url, cookies: cookiesOf(headers) }
    },
    async finish(visitor, query) {
      const auth = await ready()
      const response = await auth.api.callbackOAuth({
        params: { id: OIDC },
        query,
        headers: forwardedHeaders(visitor),
        method: 'GET',
        asResponse: true,
      })
      return { url: pathOf(response, signInPath()), cookies: cookiesOf(response.headers) }
    },
  }
}

/** Accepts only redirects to paths on this server. */
function pathOf(response: Response, signInPath: string): string {
  const at = URL.parse(response.headers.get('location') ?? '', 'http://ours.invalid')
  const error = at?.searchParams.get('error')
  if (!at || response.status !== 302 || error != null)
    return `${signInPath}?problem=${PROBLEMS[error ?? ''] ?? 'sign-in-failed'}`
  return isLocalPath(`${at.pathname}${at.search}`)
    ? `${at.pathname}${at.search}${at.hash}`
    : signInPath.replace(/sign-in$/, '')
}

const withoutSlash = (issuer: string | undefined) => issuer?.replace(/\/+$/, '')

const unreachable = (failure: string) =>
  new HostError('server-unreachable', {
    detail: `The sign-in provider ${failure}.`,
    action: 'Try again; if it stays so, tell the operator to look at LOADOUT_OIDC_ISSUER.',
  })
