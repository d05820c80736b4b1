/**
 * Who is signed in where. One door for connections (`authFor`), for people who sign in (`start`, `finish`, `disconnect`) and
 * for what is shown of it (`view`).
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { RequestAuth } from '../connections/connection.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import type { Tier } from '../schema/scope.ts'
import type { RemoteServer } from '../schema/toolkit/server.ts'
import type { SignInView } from '../schema/toolkit/sign-in.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { NO_LINKS, SignInLinks } from './flow/authorization-links.ts'
import { type Clients, finishFlow, type Returned } from './flow/authorize.ts'
import { findFlow, readFlows, type SignInFlow, signInIdOf } from './flow/flow.ts'
import { type ImportedTokens, sessionFromTokens } from './flow/imported-tokens.ts'
import { oauthFetch } from './session/oauth-fetch.ts'
import { SessionTokenSource } from './session/refresher.ts'
import { createRequestAuth } from './session/request-auth.ts'
import { revoke } from './session/revoke.ts'
import { type CurrentSession, isOver, NO_ATTEMPTS, type SignInSession } from './session/session.ts'
import type { SessionStore } from './session/session-store.ts'
import { isClientCredentials, type SignInOptions, type SignInTarget, settingsOf } from './target.ts'

export interface SignInLink {
  url: string
  expiresAt: Date
}

/** What the callback of a sign-in brings. */
export interface Callback {
  state: string
  code?: string | undefined
  iss?: string | undefined
  /** The authorization server said no. */
  error?: string | undefined
}

export interface OAuthService {
  /** For a connection of this user. Undefined where nobody can sign in. */
  authFor(stored: StoredToolkit, userId: string, server: RemoteServer): RequestAuth | undefined
  /** A link to open, for this user alone. */
  start(stored: StoredToolkit, userId: string): Promise<SignInLink>
  /** Whose link a state belongs to. `sign-in-link-invalid` where it is not good. */
  whose(state: string): Promise<{ userId: string; uscoId: string }>
  /** Ends a sign-in that its person came back from. A state is good once. */
  finish(stored: StoredToolkit, userId: string, callback: Callback): Promise<void>
  /** Keeps tokens that the app has already, as if this user had signed in. */
  give(stored: StoredToolkit, userId: string, tokens: ImportedTokens): Promise<void>
  /** Forgets the tokens, and revokes them where the server can. What the app has for all only an operator ends. */
  disconnect(stored: StoredToolkit, userId: string, isOperator?: boolean): Promise<{ revoked: boolean }>
  /** Undefined where nobody signed in, and nobody has to as far as is known. */
  view(stored: StoredToolkit, userId: string): Promise<SignInView | undefined>
  /** The toolkit is gone: nothing of anybody's sign-in to it stays. */
  forgetToolkit(uscoId: string): Promise<void>
  /** What must not be repeated: tokens as they are now, as far as this process knows them. */
  secretsOf(stored: StoredToolkit, userId: string): readonly string[]
}

export interface SignInDeps {
  storage: Storage
  store: SessionStore
  events: Emitter
  options: SignInOptions
  /** The guarded fetch, by whose toolkit it is for. */
  fetchFor(tier: Tier): FetchLike
  /** Throws unless a person may be sent there for such a toolkit. */
  assertAllowed(url: URL, tier: Tier): Promise<void>
  /** The record with its secrets in it. */
  fill(stored: StoredToolkit): Promise<RemoteServer>
  /** Connections of this user start anew. */
  onChanged(uscoId: string, userId: string): Promise<void>
}

export function createOAuthService(deps: SignInDeps): OAuthService {
  return new StoredSignIns(deps)
}

class StoredSignIns implements OAuthService {
  readonly #deps: SignInDeps
  readonly #secrets = new Map<string, { generation: number; values: readonly string[] }>()

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
    if (stored.toolkit.shared && stored.tier === 'app' && !isClientCredentials(settingsOf(server))) return undefined
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
      // The link that is shown is used up.
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
    const mustSignIn = server.auth.type === 'oauth' && !isClientCredentials(settingsOf(server))
    if (!session) return mustSignIn ? { status: 'sign-in-needed' } : undefined
    const { issuer, expiresAt, tokens } = session
    const isRenewable = tokens.refresh_token !== undefined || isClientCredentials(settingsOf(server))
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
    return finishFlow(target, flow, readCallback(callback))
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
    const settings = settingsOf(server)
    const keeper = { userId: stored.userId, toolkit: stored.uscoId }
    const boundIssuer = (issuer: string) => this.#deps.store.boundIssuer(keeper, issuer)
    return { owner, toolkit: stored.toolkit.name, serverUrl: server.url, settings, fetch, assertAllowed, boundIssuer }
  }

  #rememberSecrets({ owner }: SignInTarget, { session, generation }: CurrentSession): void {
    const key = keyOf(owner)
    if (this.#secrets.get(key)?.generation === generation) return
    if (this.#secrets.size > MAX_REMEMBERED) this.#secrets.clear()
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

/** A person's own; of a toolkit that needs none, its owner's. */
const ownerOf = (stored: StoredToolkit, userId: string, server: RemoteServer) => ({
  userId: isClientCredentials(settingsOf(server)) ? stored.userId : userId,
  toolkit: stored.uscoId,
})

/** Those that the record names: its server, and the identity provider of an enterprise. */
function hostsOf(server: RemoteServer): string[] {
  const { idpTokenEndpoint } = settingsOf(server)
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
