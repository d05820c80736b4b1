/** Token source of requests: refreshes sessions, and ends them if the user must sign in again. */
import { HostError } from '../../errors.ts'
import { MAX_STEP_UPS, type SignInLinks, tooManyStepUps } from '../flow/authorization-links.ts'
import type { Challenge } from '../flow/authorize.ts'
import { isClientCredentials, isFor, type SignInTarget } from '../target.ts'
import type { Refusal, TokenSource } from './request-auth.ts'
import { type AuthAttempts, type CurrentSession, isOver, isWithin, NO_ATTEMPTS, type SignInSession } from './session.ts'
import type { SessionStore } from './session-store.ts'

export interface TokenSourceDeps {
  store: SessionStore
  links: SignInLinks
  /** Called with the current session, to redact its tokens. */
  onSession(target: SignInTarget, current: CurrentSession): void
}

const JUST_NOW_MS = 5000

const grants = () => import('./grants.ts')

export class SessionTokenSource implements TokenSource {
  readonly #deps: TokenSourceDeps
  readonly #checked = new WeakMap<
    Promise<CurrentSession>,
    { serverUrl: string; clientId: string | undefined; checked: Promise<CurrentSession> }
  >()

  constructor(deps: TokenSourceDeps) {
    this.#deps = deps
  }

  /** Returns the same promise until the session changes, so that callers can cache by identity. */
  current(target: SignInTarget): Promise<CurrentSession> {
    const reading = this.#deps.store.current(target.owner)
    const cached = this.#checked.get(reading)
    if (cached?.serverUrl === target.serverUrl && cached.clientId === target.settings.clientId) return cached.checked
    const checked = reading.then((current) => {
      this.#deps.onSession(target, current)
      return current.session && !isFor(current.session, target) ? { ...current, session: undefined } : current
    })
    this.#checked.set(reading, { serverUrl: target.serverUrl, clientId: target.settings.clientId, checked })
    return checked
  }

  async renew(target: SignInTarget, seen: CurrentSession): Promise<CurrentSession> {
    return this.#renew(target, seen, true)
  }

  async handleRefusal(target: SignInTarget, seen: CurrentSession, refusal: Refusal): Promise<CurrentSession> {
    const { store } = this.#deps
    const current = await this.current(target)
    // Another request has already renewed the session.
    if (current.generation !== seen.generation && current.session && !refusal.needsMore) return current
    if (isClientCredentials(target.settings)) return this.#renewClientCredentials(target, seen, refusal)
    const { session } = current
    if (refusal.needsMore && session)
      throw await this.#deps.links.signInNeeded(
        target,
        await widenScope(session, refusal),
        nextAttempts(session, refusal),
      )
    if (session && (await this.#isSameIssuer(target, session, refusal))) return this.#renew(target, current, false)
    // Tokens of another authorization server are useless here.
    if (session && !(await store.end(target.owner, current.generation))) {
      const latest = await store.current(target.owner)
      if (latest.session && latest.generation !== current.generation) return latest
    }
    throw await this.#deps.links.signInNeeded(target, refusal, NO_ATTEMPTS)
  }

  /**
   * `isAccepted`: the server did not refuse the token, so it stays valid until it expires, even if the renewal fails.
   */
  async #renew(target: SignInTarget, seen: CurrentSession, isAccepted: boolean): Promise<CurrentSession> {
    const { fetchClientCredentials, renewSession, revoke } = await grants()
    const renewOwn = async (session: SignInSession | undefined) =>
      session && isFor(session, target) ? renewSession(target, session, isAccepted && !isOver(session)) : undefined
    const next = await this.#deps.store.renew(target.owner, seen.generation, {
      renew: isClientCredentials(target.settings) ? () => fetchClientCredentials(target, {}) : renewOwn,
      discard: (session) => revoke(target, session),
    })
    if (next.session) return next
    throw await this.#deps.links.signInNeeded(target, {}, NO_ATTEMPTS)
  }

  /** Requests a new token with the same credentials, unless the refused token is new. */
  async #renewClientCredentials(target: SignInTarget, seen: CurrentSession, refusal: Refusal): Promise<CurrentSession> {
    if (seen.session && Date.now() - seen.session.obtainedAt < JUST_NOW_MS)
      throw new HostError('sign-in-needed', {
        detail: 'The server refuses the token that the authorization server has just given.',
        action: 'Check clientId, its secret or key, and the scopes of the toolkit.',
      })
    const attempts = refusal.needsMore && seen.session ? nextAttempts(seen.session, refusal) : NO_ATTEMPTS
    if (attempts.stepUps > MAX_STEP_UPS) throw tooManyStepUps()
    const { fetchClientCredentials, revoke } = await grants()
    return this.#deps.store.renew(target.owner, seen.generation, {
      renew: () => fetchClientCredentials(target, refusal, attempts),
      discard: (session) => revoke(target, session),
    })
  }

  async #isSameIssuer(
    target: SignInTarget,
    session: SignInSession,
    { resourceMetadataUrl }: Challenge,
  ): Promise<boolean> {
    const { discoverOAuthServerInfo } = await import('@modelcontextprotocol/client')
    const { issuerOf, signInError } = await grants()
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
}

/** Previous scopes plus those that the server requires. */
async function widenScope(session: SignInSession, { scope, resourceMetadataUrl }: Refusal): Promise<Challenge> {
  const { computeScopeUnion } = await import('@modelcontextprotocol/client')
  return { resourceMetadataUrl, scope: computeScopeUnion(session.scope, scope) ?? scope }
}

function nextAttempts(
  { scope: requestedScope, repeats, stepUps }: SignInSession,
  { scope = '' }: Refusal,
): AuthAttempts {
  return { repeats: isWithin(scope, requestedScope) ? repeats + 1 : repeats, stepUps: stepUps + 1 }
}
