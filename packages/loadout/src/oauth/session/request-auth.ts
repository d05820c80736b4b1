/**
 * Signs one user's requests to one server. A token that expires soon is renewed first; after a refusal it is renewed
 * and the request is sent again. If only the user can help, the request fails with `sign-in-needed` and a link. Tokens
 * are sent to the server's origin only.
 */
import type { DpopSession, FetchLike } from '@modelcontextprotocol/client'
import type { RequestAuth } from '../../connections/connection.ts'
import type { Challenge } from '../flow/authorize.ts'
import { isRenewable, type SignInTarget } from '../target.ts'
import { type CurrentSession, isDpop, isEnding, isOver, type SignInSession } from './session.ts'

export interface TokenSource {
  /** Returns the same promise until the session changes. */
  current(target: SignInTarget): Promise<CurrentSession>
  /** Renews a session that expires soon. Throws `sign-in-needed` if the user must sign in. */
  renew(target: SignInTarget, seen: CurrentSession): Promise<CurrentSession>
  /** Returns another session after a refusal. Throws `sign-in-needed` if the user must sign in. */
  handleRefusal(target: SignInTarget, seen: CurrentSession, challenge: Refusal): Promise<CurrentSession>
}

export interface Refusal extends Challenge {
  /** The token is valid but lacks a scope. */
  needsMore: boolean
}

/** Refusals per request: a missing or expired token, and a missing scope. */
const MAX_REFUSALS = 2

export function createRequestAuth(tokenSource: TokenSource, target: SignInTarget): RequestAuth {
  return new SignedRequests(tokenSource, target)
}

class SignedRequests implements RequestAuth {
  readonly #tokenSource: TokenSource
  readonly #target: SignInTarget
  readonly #origin: string
  /** Last read session, so that `headers` can be synchronous. */
  #reading: Promise<CurrentSession> | undefined
  #current: CurrentSession | undefined
  readonly #keys = new WeakMap<SignInSession, Promise<DpopSession | undefined>>()

  constructor(tokenSource: TokenSource, target: SignInTarget) {
    this.#tokenSource = tokenSource
    this.#target = target
    this.#origin = new URL(target.serverUrl).origin
  }

  headers(): readonly string[] | undefined {
    const reading = this.#tokenSource.current(this.#target)
    if (reading !== this.#reading) {
      // A failed read is reported by the wrapped fetch, which reads again.
      this.#read(reading).catch(() => {})
      return undefined
    }
    const session = this.#current?.session
    if (this.#current === undefined || (session && (isEnding(session) || isDpop(session)))) return undefined
    return session ? ['authorization', `Bearer ${session.tokens.access_token}`] : NO_HEADERS
  }

  wrap(fetch: FetchLike): FetchLike {
    const signed: FetchLike = async (input, init = {}) => {
      const url = typeof input === 'string' ? URL.parse(input) : input
      if (url?.origin !== this.#origin) return fetch(input, init)
      let seen = await this.#session()
      let response = await this.#send(fetch, { input, init }, seen.session)
      for (let refusals = 0; refusals < MAX_REFUSALS; refusals++) {
        const refusal = await readRefusal(response)
        if (!refusal) return response
        await response.body?.cancel().catch(() => {})
        seen = await this.#tokenSource.handleRefusal(this.#target, seen, refusal)
        response = await this.#send(fetch, { input, init }, seen.session)
      }
      return response
    }
    return Object.assign(signed, 'maxRedirects' in fetch ? { maxRedirects: fetch.maxRedirects } : {})
  }

  async #session(): Promise<CurrentSession> {
    const current = await this.#read(this.#tokenSource.current(this.#target))
    const { session } = current
    if (!session || !isEnding(session)) return current
    if (!isOver(session) && !isRenewable(session, this.#target)) return current
    try {
      return await this.#tokenSource.renew(this.#target, current)
    } catch (error) {
      // The token is still valid, and the renewal may succeed later.
      if (!isOver(session)) return current
      throw error
    }
  }

  async #read(reading: Promise<CurrentSession>): Promise<CurrentSession> {
    const current = await reading
    this.#reading = reading
    this.#current = current
    return current
  }

  async #send(
    fetch: FetchLike,
    { input, init }: { input: string | URL; init: RequestInit },
    session: SignInSession | undefined,
  ): Promise<Response> {
    if (!session) return fetch(input, init)
    const token = session.tokens.access_token
    if (isDpop(session)) {
      const { withDpop } = await import('@modelcontextprotocol/client')
      return withDpop(this.#dpopFor(session), () => token)(fetch)(input, init)
    }
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    return fetch(input, { ...init, headers })
  }

  /** One DPoP session per sign-in session, because it keeps the server's nonce. */
  #dpopFor(session: SignInSession): () => Promise<DpopSession | undefined> {
    const key = this.#keys.get(session) ?? import('./refresh.ts').then(({ dpopOf }) => dpopOf(session))
    this.#keys.set(session, key)
    return () => key
  }
}

const NO_HEADERS: readonly string[] = []

async function readRefusal(response: Response): Promise<Refusal | undefined> {
  if (response.status !== 401 && response.status !== 403) return undefined
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client')
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response)
  if (response.status === 401) return { resourceMetadataUrl, scope, needsMore: false }
  return error === 'insufficient_scope' ? { resourceMetadataUrl, scope, needsMore: true } : undefined
}
