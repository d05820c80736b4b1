/**
 * OAuth sign-ins: request auth for connections (`authFor`), the sign-in flow (`start`, `finish`, `disconnect`) and its
 * status (`view`).
 */

import type { FetchLike } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import type { RequestAuth } from '../connections/connection.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import type { Tier } from '../schema/scope.ts'
import type { RemoteServer } from '../schema/toolkit/server.ts'
import type { SignInView } from '../schema/toolkit/sign-in.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { NO_LINKS, SignInLinks } from './flow/authorization-links.ts'
import type { Clients, Returned } from './flow/authorize.ts'
import { findFlow, readFlows, type SignInFlow, signInIdOf } from './flow/flow.ts'
import type { ImportedTokens } from './flow/imported-tokens.ts'
import { oauthFetch } from './session/oauth-fetch.ts'
import { SessionTokenSource } from './session/refresher.ts'
import { createRequestAuth } from './session/request-auth.ts'
import { type CurrentSession, isOver, NO_ATTEMPTS, type SignInSession } from './session/session.ts'
import type { SessionStore } from './session/session-store.ts'
import { isClientCredentials, oauthSettings, type SignInOptions, type SignInTarget } from './target.ts'

export interface SignInLink {
  url: string
  expiresAt: Date
}

/** Parameters of a sign-in callback. */
export interface Callback {
  state: string
  code?: string | undefined
  iss?: string | undefined
  /** Error code of the authorization server. */
  error?: string | undefined
}

export interface OAuthService {
  /** Request auth for a user's connection; undefined if nobody can sign in. */
  authFor(stored: StoredToolkit, userId: string, server: RemoteServer): RequestAuth | undefined
  /** Creates a sign-in link for this user. */
  start(stored: StoredToolkit, userId: string): Promise<SignInLink>
  /** Returns the owner of a state, or throws `sign-in-link-invalid`. */
  whose(state: string): Promise<{ userId: string; uscoId: string }>
  /** Completes a sign-in. A state works once. */
  finish(stored: StoredToolkit, userId: string, callback: Callback): Promise<void>
  /** Stores tokens that the app already has, as if the user had signed in. */
  give(stored: StoredToolkit, userId: string, tokens: ImportedTokens): Promise<void>
  /** Deletes the tokens and revokes them if possible. Only operators may end a shared session. */
  disconnect(stored: StoredToolkit, userId: string, isOperator?: boolean): Promise<{ revoked: boolean }>
  /** Undefined if nobody signed in and no sign-in is required. */
  view(stored: StoredToolkit, userId: string): Promise<SignInView | undefined>
  /** Deletes all sign-ins of a removed toolkit. */
  forgetToolkit(uscoId: string): Promise<void>
  /** Tokens to redact, as far as this process has read them. */
  secretsOf(stored: StoredToolkit, userId: string): readonly string[]
}

export interface SignInDeps {
  storage: Storage
  store: SessionStore
  events: Emitter
  options: SignInOptions
  /** Guarded fetch of a tier. */
  fetchFor(tier: Tier): FetchLike
  /** Throws unless a user may be sent to the URL. */
  assertAllowed(url: URL, tier: Tier): Promise<void>
  /** Returns the record with its secrets filled in. */
  fill(stored: StoredToolkit): Promise<RemoteServer>
  /** Reconnects the user's connections. */
  onChanged(uscoId: string, userId: string): Promise<void>
}

export function createOAuthService(deps: SignInDeps): OAuthService {
  return new StoredSignIns(deps)
}

class StoredSignIns implements OAuthService {
  readonly #deps: SignInDeps
  readonly #secrets = new LRUCache<string, { generation: number; values: readonly string[] }>({ max: MAX_REMEMBERED })

  readonly #links: SignInLinks
  readonly #tokenSource: SessionTokenSource

  constructor(deps: SignInDeps) {
    this.#deps = deps
    this.#links = new SignInLinks(deps)
    const { store } = deps
    this.#tokenSource = new SessionTokenSource({
      store,
      links: this.#links,
      onSession: (target, current) => this.#rememberSecrets(target, current),
    })
  }

  authFor(stored: StoredToolkit, userId: string, server: RemoteServer): RequestAuth | undefined {
    const { auth } = server
    if (stored.ephemeral || (auth.type !== 'none' && auth.type !== 'oauth')) return undefined
    if (stored.toolkit.shared && stored.tier === 'app' && !isClientCredentials(oauthSettings(server))) return undefined
    return createRequestAuth(this.#tokenSource, this.#targetOf(stored, userId, server))
  }

  async start(stored: StoredToolkit, userId: string): Promise<SignInLink> {
    const target = await this.#targetFor(stored, userId)
    if (isClientCredentials(target.settings))
      throw new HostError('invalid-input', { detail: 'This toolkit gets its tokens without a person.' })
    const { url, expiresAt } = await this.#links.link(target, {}, NO_ATTEMPTS)
    return { url, expiresAt: new Date(expiresAt) }
  }

  async whose(state: string) {
    const { storage, store } = this.#deps
    const boundedState = state.slice(0, MAX_STATE)
    const signInId = signInIdOf(boundedState)
    const [row] = await storage.transaction({ caller: 'sign-in-callback' }, (tx) =>
      tx.list('signIns', { where: { signInId }, limit: 1 }),
    )
    if (!row || row.stateUntil === null || row.stateUntil <= new Date()) throw new HostError('sign-in-link-invalid')
    const { userId, uscoId } = row
    const open = readFlows(await store.sealed({ userId, toolkit: uscoId }, 'oauth.flow'))
    if (!(await findFlow(open, boundedState))) throw new HostError('sign-in-link-invalid')
    return { userId, uscoId }
  }

  async finish(stored: StoredToolkit, userId: string, callback: Callback): Promise<void> {
    const { onChanged } = this.#deps
    const target = await this.#targetFor(stored, userId)
    const flow = await this.#links.consume(target, callback.state)
    const session = await this.#exchange(target, flow, callback).catch(async (error: unknown) => {
      // The visible link is used, so the state must update.
      await onChanged(stored.uscoId, userId)
      throw error
    })
    await this.#storeSession(stored, target, { userId, session })
  }

  async give(stored: StoredToolkit, userId: string, tokens: ImportedTokens): Promise<void> {
    const target = await this.#targetFor(stored, userId)
    if (isClientCredentials(target.settings))
      throw new HostError('invalid-input', { detail: 'This toolkit gets its tokens without a person.' })
    const clients = ((await this.#deps.store.sealed(target.owner, 'oauth.clients')) ?? {}) as Clients
    const { sessionFromTokens } = await import('./flow/imported-tokens.ts')
    const session = await sessionFromTokens(target, tokens, clients)
    await this.#storeSession(stored, target, { userId, session })
  }

  async #storeSession(
    { uscoId, toolkit }: StoredToolkit,
    target: SignInTarget,
    { userId, session }: { userId: string; session: SignInSession },
  ): Promise<void> {
    const { store, events, onChanged } = this.#deps
    await store.write(target.owner, { session, ...NO_LINKS })
    await onChanged(uscoId, userId)
    events.emit({ type: 'signed-in', userId, toolkit: toolkit.id, uscoId, issuer: session.issuer })
  }

  async disconnect(stored: StoredToolkit, userId: string, isOperator = false): Promise<{ revoked: boolean }> {
    const { store, events, onChanged } = this.#deps
    const target = await this.#targetFor(stored, userId)
    if (target.owner.userId !== userId && !isOperator)
      throw new HostError('forbidden', { detail: 'This toolkit has one session for all, which only an operator ends.' })
    const { session } = await store.current(target.owner)
    await store.write(target.owner, { session: null, ...NO_LINKS })
    const { revoke } = await import('./session/revoke.ts')
    const revoked = session ? await revoke(target, session) : false
    await onChanged(stored.uscoId, userId)
    const { id } = stored.toolkit
    if (session) events.emit({ type: 'signed-out', userId, toolkit: id, uscoId: stored.uscoId, revoked })
    return { revoked }
  }

  async view(stored: StoredToolkit, userId: string): Promise<SignInView | undefined> {
    const { server } = stored.toolkit
    if (stored.ephemeral || server.type === 'stdio' || server.type === 'custom') return undefined
    if (server.auth.type !== 'none' && server.auth.type !== 'oauth') return undefined
    const owner = ownerOf(stored, userId, server)
    const { session } = await this.#deps.store.current(owner)
    const mustSignIn = server.auth.type === 'oauth' && !isClientCredentials(oauthSettings(server))
    if (!session) return mustSignIn ? { status: 'sign-in-needed' } : undefined
    const { issuer, expiresAt, tokens } = session
    const isRenewable = tokens.refresh_token !== undefined || isClientCredentials(oauthSettings(server))
    if (isOver(session) && !isRenewable) return { status: 'sign-in-needed', issuer }
    return {
      status: 'signed-in',
      issuer,
      ...(isRenewable || expiresAt === null ? {} : { endsAt: new Date(expiresAt) }),
    }
  }

  async forgetToolkit(uscoId: string): Promise<void> {
    const { storage, store } = this.#deps
    for (;;) {
      const rows = await storage.transaction({ caller: 'sign-in-callback' }, (tx) =>
        tx.list('signIns', { where: { uscoId }, limit: FORGET_PAGE }),
      )
      for (const { userId } of rows) await store.remove({ userId, toolkit: uscoId })
      if (rows.length < FORGET_PAGE) return
    }
  }

  secretsOf(stored: StoredToolkit, userId: string): readonly string[] {
    const { server } = stored.toolkit
    if (stored.ephemeral || (server.type !== 'http' && server.type !== 'sse')) return NONE
    return this.#secrets.get(keyOf(ownerOf(stored, userId, server)))?.values ?? NONE
  }

  async #exchange(target: SignInTarget, flow: SignInFlow, callback: Callback): Promise<SignInSession> {
    if (flow.serverUrl !== target.serverUrl)
      throw new HostError('sign-in-link-invalid', { detail: 'The toolkit was changed since the link was made.' })
    const returned = readCallback(callback)
    const { finishFlow } = await import('./flow/authorize.ts')
    return finishFlow(target, flow, returned)
  }

  async #targetFor(stored: StoredToolkit, userId: string): Promise<SignInTarget> {
    const { server } = stored.toolkit
    const authType = server.type === 'http' || server.type === 'sse' ? server.auth.type : undefined
    if (stored.ephemeral || (authType !== 'none' && authType !== 'oauth'))
      throw new HostError('invalid-input', {
        detail: `"${stored.toolkit.id}" is no server that people sign in to.`,
        errors: [{ path: 'toolkit', message: 'has no sign-in' }],
      })
    return this.#targetOf(stored, userId, await this.#deps.fill(stored))
  }

  #targetOf(stored: StoredToolkit, userId: string, server: RemoteServer): SignInTarget {
    const owner = ownerOf(stored, userId, server)
    const { fetchFor } = this.#deps
    const fetch = oauthFetch({ own: fetchFor(stored.tier), others: fetchFor('user'), ownHosts: hostsOf(server) })
    const assertAllowed = (url: URL) => this.#deps.assertAllowed(url, stored.tier)
    const settings = oauthSettings(server)
    const keeper = { userId: stored.userId, toolkit: stored.uscoId }
    const boundIssuer = (issuer: string) => this.#deps.store.boundIssuer(keeper, issuer)
    return { owner, toolkit: stored.toolkit.name, serverUrl: server.url, settings, fetch, assertAllowed, boundIssuer }
  }

  #rememberSecrets({ owner }: SignInTarget, { session, generation }: CurrentSession): void {
    const key = keyOf(owner)
    if (this.#secrets.get(key)?.generation === generation) return
    const { access_token, refresh_token } = session?.tokens ?? {}
    const values = [access_token, refresh_token, session?.client.client_secret]
    this.#secrets.set(key, { generation, values: values.filter((value) => value !== undefined) })
  }
}

const NONE: readonly string[] = []
const MAX_REMEMBERED = 10_000
const FORGET_PAGE = 200
const MAX_STATE = 200

const keyOf = ({ userId, toolkit }: { userId: string; toolkit: string }) => JSON.stringify([userId, toolkit])

/** The user, or the toolkit's owner for grants without a user. */
const ownerOf = (stored: StoredToolkit, userId: string, server: RemoteServer) => ({
  userId: isClientCredentials(oauthSettings(server)) ? stored.userId : userId,
  toolkit: stored.uscoId,
})

/** Hosts that the record names: the server, and an enterprise identity provider. */
function hostsOf(server: RemoteServer): string[] {
  const { idpTokenEndpoint } = oauthSettings(server)
  return [server.url, idpTokenEndpoint].flatMap((text) => (text && URL.parse(text)?.hostname) || [])
}

function readCallback({ code, iss, error }: Callback): Returned {
  if (error !== undefined || code === undefined)
    throw new HostError('sign-in-failed', {
      detail:
        error === 'access_denied'
          ? 'The sign-in was declined.'
          : 'The authorization server ended the sign-in without giving access.',
    })
  return { code, iss }
}
