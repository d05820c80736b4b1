/**
 * Who is signed in where. One door for connections (`authFor`), for people who sign in (`start`, `finish`, `disconnect`) and
 * for what is shown of it (`view`).
 */
import { computeScopeUnion, discoverOAuthServerInfo, type FetchLike } from '@modelcontextprotocol/client'
import type { RequestAuth } from '../connections/connection.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import type { Tier } from '../schema/scope.ts'
import type { RemoteServer } from '../schema/server.ts'
import type { SignInView } from '../schema/sign-in.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { beginFlow, type Challenge, type Clients, finishFlow, issuerOf, type Returned } from './authorize.ts'
import { signInError } from './failures.ts'
import { hashOf, readFlow, type SignInFlow } from './flow.ts'
import { oauthFetch } from './oauth-fetch.ts'
import { renewSession } from './renew.ts'
import { createRequestAuth, type Refusal, type Signer } from './request-auth.ts'
import { revoke } from './revoke.ts'
import { type CurrentSession, isOver, type SignInSession } from './session.ts'
import type { SessionStore } from './session-store.ts'
import { isFor, isUnattended, redirectUrlOf, type SignInOptions, type SignInTarget, settingsOf } from './target.ts'
import { getUnattended } from './unattended.ts'

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

export interface SignIns {
  /** For a connection of this user. Undefined where nobody can sign in. */
  authFor(stored: StoredToolkit, userId: string, server: RemoteServer): RequestAuth | undefined
  /** A link to open, for this user alone. */
  start(stored: StoredToolkit, userId: string): Promise<SignInLink>
  /** Whose link a state belongs to. `sign-in-link-invalid` where it is not good. */
  whose(state: string): Promise<{ userId: string; uscoId: string }>
  /** Ends a sign-in that its person came back from. A state is good once. */
  finish(stored: StoredToolkit, userId: string, callback: Callback): Promise<void>
  /** Forgets the tokens, and revokes them where the server can. */
  disconnect(stored: StoredToolkit, userId: string): Promise<{ revoked: boolean }>
  /** Undefined where nobody signed in, and nobody has to as far as is known. */
  view(stored: StoredToolkit, userId: string): Promise<SignInView | undefined>
  /** What must not be repeated: tokens as they are now, as far as this process knows them. */
  secretsOf(stored: StoredToolkit, userId: string): readonly string[]
}

export interface SignInParts {
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

/** Sign-ins for want of a scope that was asked for already: more of them do not help. */
const MOST_REPEATS = 1

export function createSignIns(parts: SignInParts): SignIns {
  return new StoredSignIns(parts)
}

class StoredSignIns implements SignIns, Signer {
  readonly #parts: SignInParts
  readonly #beginning = new Map<string, Promise<SignInFlow>>()
  readonly #checked = new WeakMap<
    Promise<CurrentSession>,
    { serverUrl: string; clientId: string | undefined; checked: Promise<CurrentSession> }
  >()
  readonly #secrets = new Map<string, { generation: number; values: readonly string[] }>()

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  authFor(stored: StoredToolkit, userId: string, server: RemoteServer): RequestAuth | undefined {
    const { auth } = server
    if (stored.carried || (auth.type !== 'none' && auth.type !== 'oauth')) return undefined
    if (stored.toolkit.shared && stored.tier === 'app' && !isUnattended(settingsOf(server))) return undefined
    return createRequestAuth(this, this.#targetOf(stored, userId, server))
  }

  async start(stored: StoredToolkit, userId: string): Promise<SignInLink> {
    const target = await this.#targetFor(stored, userId)
    if (isUnattended(target.settings))
      throw new HostError('invalid-input', { detail: 'This toolkit gets its tokens without a person.' })
    const { url, expiresAt } = await this.#link(target, {}, 0)
    return { url, expiresAt: new Date(expiresAt) }
  }

  async whose(state: string) {
    const stateHash = await hashOf(state.slice(0, 200))
    const [row] = await this.#parts.storage.transaction({ caller: 'sign-in-callback' }, (tx) =>
      tx.list('signIns', { where: { stateHash }, limit: 1 }),
    )
    if (!row || row.stateUntil === null || row.stateUntil <= new Date()) throw new HostError('sign-in-link-invalid')
    return { userId: row.userId, uscoId: row.uscoId }
  }

  async finish(stored: StoredToolkit, userId: string, callback: Callback): Promise<void> {
    const { store, events, onChanged } = this.#parts
    const target = await this.#targetFor(stored, userId)
    const flow = readFlow(await store.sealed(target.owner, 'oauth.flow'))
    await this.#useUp(target, callback.state)
    if (flow?.state !== callback.state || flow.expiresAt <= Date.now()) throw new HostError('sign-in-link-invalid')
    if (flow.serverUrl !== target.serverUrl)
      throw new HostError('sign-in-link-invalid', { detail: 'The toolkit was changed since the link was made.' })
    const session = await finishFlow(target, flow, returnedOf(callback))
    await store.write(target.owner, { session })
    await onChanged(stored.uscoId, userId)
    events.emit({
      type: 'signed-in',
      userId,
      toolkit: stored.toolkit.id,
      uscoId: stored.uscoId,
      issuer: session.issuer,
    })
  }

  async disconnect(stored: StoredToolkit, userId: string): Promise<{ revoked: boolean }> {
    const { store, events, onChanged } = this.#parts
    const target = await this.#targetFor(stored, userId)
    const { session } = await store.current(target.owner)
    await store.write(target.owner, { session: null, sealed: { 'oauth.flow': null }, set: NO_STATE })
    const revoked = session ? await revoke(target, session) : false
    await onChanged(stored.uscoId, userId)
    const { id } = stored.toolkit
    if (session) events.emit({ type: 'signed-out', userId, toolkit: id, uscoId: stored.uscoId, revoked })
    return { revoked }
  }

  async view(stored: StoredToolkit, userId: string): Promise<SignInView | undefined> {
    const { server } = stored.toolkit
    if (stored.carried || server.type === 'stdio' || server.type === 'custom') return undefined
    if (server.auth.type !== 'none' && server.auth.type !== 'oauth') return undefined
    const owner = ownerOf(stored, userId, server)
    const { session } = await this.#parts.store.current(owner)
    const mustSignIn = server.auth.type === 'oauth' && !isUnattended(settingsOf(server))
    if (!session) return mustSignIn ? { status: 'sign-in-needed' } : undefined
    const { issuer, expiresAt, tokens } = session
    const isRenewable = tokens.refresh_token !== undefined || isUnattended(settingsOf(server))
    if (isOver(session) && !isRenewable) return { status: 'sign-in-needed', issuer }
    return {
      status: 'signed-in',
      issuer,
      ...(isRenewable || expiresAt === null ? {} : { endsAt: new Date(expiresAt) }),
    }
  }

  secretsOf(stored: StoredToolkit, userId: string): readonly string[] {
    const { server } = stored.toolkit
    if (stored.carried || (server.type !== 'http' && server.type !== 'sse')) return NONE
    return this.#secrets.get(keyOf(ownerOf(stored, userId, server)))?.values ?? NONE
  }

  /** The same promise as long as nothing changes, so that who holds it knows what is in it. */
  current(target: SignInTarget): Promise<CurrentSession> {
    const reading = this.#parts.store.current(target.owner)
    const known = this.#checked.get(reading)
    if (known?.serverUrl === target.serverUrl && known.clientId === target.settings.clientId) return known.checked
    const checked = reading.then((current) => {
      this.#note(target, current)
      return current.session && !isFor(current.session, target) ? { ...current, session: undefined } : current
    })
    this.#checked.set(reading, { serverUrl: target.serverUrl, clientId: target.settings.clientId, checked })
    return checked
  }

  async renewed(target: SignInTarget, seen: CurrentSession): Promise<CurrentSession> {
    const next = await this.#parts.store.renew(target.owner, seen.generation, (session) =>
      isUnattended(target.settings)
        ? getUnattended(target, {})
        : session && isFor(session, target)
          ? renewSession(target, session)
          : Promise.resolve(undefined),
    )
    if (next.session) return next
    throw await this.#needed(target, {}, 0)
  }

  async refused(target: SignInTarget, seen: CurrentSession, refusal: Refusal): Promise<CurrentSession> {
    const { store } = this.#parts
    const current = await this.current(target)
    // Another request has been given another one meanwhile.
    if (current.generation !== seen.generation && current.session && !refusal.needsMore) return current
    if (isUnattended(target.settings)) return this.#unattended(target, seen, refusal)
    const { session } = current
    if (refusal.needsMore && session)
      throw await this.#needed(target, moreOf(session, refusal), repeatsOf(session, refusal))
    if (session && (await this.#isSameIssuer(target, session, refusal))) return this.renewed(target, current)
    // Tokens of another authorization server, or none: they are of no use here.
    if (session) await store.write(target.owner, { session: null })
    throw await this.#needed(target, refusal, 0)
  }

  /** Its credentials were refused: with the same ones it is tried once more, for a token that was too old. */
  async #unattended(target: SignInTarget, seen: CurrentSession, refusal: Refusal): Promise<CurrentSession> {
    if (seen.session && Date.now() - seen.session.obtainedAt < JUST_NOW_MS)
      throw new HostError('sign-in-needed', {
        detail: 'The server refuses the token that the authorization server has just given.',
        action: 'Check clientId, its secret or key, and the scopes of the toolkit.',
      })
    return this.#parts.store.renew(target.owner, seen.generation, () => getUnattended(target, refusal))
  }

  async #isSameIssuer(
    target: SignInTarget,
    session: SignInSession,
    { resourceMetadataUrl }: Challenge,
  ): Promise<boolean> {
    try {
      const found = await discoverOAuthServerInfo(target.serverUrl, {
        fetchFn: target.fetch,
        ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
      })
      return issuerOf(found) === session.issuer
    } catch (error) {
      throw signInError(error)
    }
  }

  /** The error that a call ends with, with the link to open. */
  async #needed(target: SignInTarget, challenge: Challenge, repeats: number): Promise<HostError> {
    if (repeats > MOST_REPEATS)
      return new HostError('sign-in-needed', {
        detail: 'The server still refuses after signing in again for what it asked for.',
        action: 'Ask whoever runs the server for the permission; signing in again does not give it.',
      })
    try {
      const { url } = await this.#link(target, challenge, repeats)
      return new HostError('sign-in-needed', {
        detail: `"${target.toolkit}" wants you to sign in. Open the link, then try again.`,
        action: url,
      })
    } catch (error) {
      const { message, action, code } = signInError(error)
      return new HostError(code === 'address-blocked' ? code : 'sign-in-needed', { detail: message, action })
    }
  }

  /** The link that is open, where it is for the same; else a new one, made once however many ask. */
  #link(target: SignInTarget, challenge: Challenge, repeats: number): Promise<SignInFlow> {
    const key = JSON.stringify([keyOf(target.owner), challenge.scope ?? ''])
    const beginning = this.#beginning.get(key) ?? this.#begin(target, challenge, repeats)
    this.#beginning.set(key, beginning)
    const done = () => this.#beginning.delete(key)
    beginning.then(done, done)
    return beginning
  }

  async #begin(target: SignInTarget, challenge: Challenge, repeats: number): Promise<SignInFlow> {
    const { store, options } = this.#parts
    const redirectUrl = redirectUrlOf(options)
    if (redirectUrl === undefined)
      throw new HostError('sign-in-failed', {
        detail: 'The server wants a sign-in, and this host has no address that people could come back to.',
        action: 'Give createHost signIn.redirectUrl, or give the toolkit a token.',
      })
    const open = readFlow(await store.sealed(target.owner, 'oauth.flow'))
    if (open && isStillGood(open, { target, challenge, redirectUrl })) return open
    const clients = ((await store.sealed(target.owner, 'oauth.clients')) ?? {}) as Clients
    const flow = await beginFlow({ target, redirectUrl, options, challenge, clients, repeats })
    await store.write(target.owner, {
      sealed: { 'oauth.flow': flow, 'oauth.clients': { ...clients, [issuerOf(flow.discovery)]: flow.client } },
      set: { stateHash: await hashOf(flow.state), stateUntil: new Date(flow.expiresAt) },
    })
    return flow
  }

  /** Of many who bring the same state, one succeeds. */
  async #useUp({ owner }: SignInTarget, state: string): Promise<void> {
    const where = { stateHash: await hashOf(state) }
    await this.#parts.store.write(owner, { sealed: { 'oauth.flow': null }, set: NO_STATE, where }).catch((error) => {
      throw HostError.is(error) && error.code === 'conflict' ? new HostError('sign-in-link-invalid') : error
    })
  }

  async #targetFor(stored: StoredToolkit, userId: string): Promise<SignInTarget> {
    const { server } = stored.toolkit
    const isOpen = server.type === 'http' || server.type === 'sse' ? server.auth.type : undefined
    if (stored.carried || (isOpen !== 'none' && isOpen !== 'oauth'))
      throw new HostError('invalid-input', {
        detail: `"${stored.toolkit.id}" is no server that people sign in to.`,
        errors: [{ path: 'toolkit', message: 'has no sign-in' }],
      })
    return this.#targetOf(stored, userId, await this.#parts.fill(stored))
  }

  #targetOf(stored: StoredToolkit, userId: string, server: RemoteServer): SignInTarget {
    const owner = ownerOf(stored, userId, server)
    const fetch = oauthFetch(this.#parts.fetchFor(stored.tier))
    const assertAllowed = (url: URL) => this.#parts.assertAllowed(url, stored.tier)
    const settings = settingsOf(server)
    return { owner, toolkit: stored.toolkit.name, serverUrl: server.url, settings, fetch, assertAllowed }
  }

  #note({ owner }: SignInTarget, { session, generation }: CurrentSession): void {
    const key = keyOf(owner)
    if (this.#secrets.get(key)?.generation === generation) return
    if (this.#secrets.size > MOST_NOTED) this.#secrets.clear()
    const { access_token, refresh_token } = session?.tokens ?? {}
    const values = [access_token, refresh_token, session?.client.client_secret]
    this.#secrets.set(key, { generation, values: values.filter((value) => value !== undefined) })
  }
}

const NONE: readonly string[] = []
const NO_STATE = { stateHash: null, stateUntil: null } as const
const MOST_NOTED = 10_000
const JUST_NOW_MS = 5000
const HALF_LIFE_MS = 5 * 60_000

const keyOf = ({ userId, toolkit }: { userId: string; toolkit: string }) => JSON.stringify([userId, toolkit])

/** A person's own; of a toolkit that needs none, its owner's. */
const ownerOf = (stored: StoredToolkit, userId: string, server: RemoteServer) => ({
  userId: isUnattended(settingsOf(server)) ? stored.userId : userId,
  toolkit: stored.uscoId,
})

function isStillGood(
  flow: SignInFlow,
  { target, challenge, redirectUrl }: { target: SignInTarget; challenge: Challenge; redirectUrl: string },
): boolean {
  const wanted = challenge.scope ?? target.settings.scopes?.join(' ')
  return (
    flow.expiresAt - Date.now() > HALF_LIFE_MS &&
    flow.serverUrl === target.serverUrl &&
    flow.redirectUrl === redirectUrl &&
    (wanted === undefined || isWithin(wanted, flow.scope))
  )
}

const words = (scope = '') => scope.split(' ').filter(Boolean)

const isWithin = (scope: string, wider: string | undefined) => words(scope).every((word) => words(wider).includes(word))

/** What was asked for before, and what the server wants beside it. */
function moreOf(session: SignInSession, { scope, resourceMetadataUrl }: Refusal): Challenge {
  return { resourceMetadataUrl, scope: computeScopeUnion(session.scope, scope) ?? scope }
}

function repeatsOf(session: SignInSession, { scope = '' }: Refusal): number {
  return isWithin(scope, session.scope) ? session.repeats + 1 : session.repeats
}

function returnedOf({ code, iss, error }: Callback): Returned {
  if (error !== undefined || code === undefined)
    throw new HostError('sign-in-failed', {
      detail:
        error === 'access_denied'
          ? 'The sign-in was declined.'
          : 'The authorization server ended the sign-in without giving access.',
    })
  return { code, iss }
}
