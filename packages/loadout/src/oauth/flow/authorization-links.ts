/**
 * Sign-in links. An open link for the same purpose is reused, and concurrent requests create one link. A link works
 * once and for 10 minutes, also if a newer one exists.
 */
import { HostError } from '../../errors.ts'
import type { AuthAttempts } from '../session/session.ts'
import { isWithin } from '../session/session.ts'
import type { SessionStore } from '../session/session-store.ts'
import { redirectUrlOf, type SignInOptions, type SignInTarget } from '../target.ts'
import type { Challenge, Clients } from './authorize.ts'
import { findFlow, newState, readFlows, rowMarks, type SignInFlow } from './flow.ts'

/** Sign-ins for a scope that was already requested; more do not help. */
const MAX_REPEATS = 1
/** Sign-ins for additional scopes, after which the server is not trusted. */
export const MAX_STEP_UPS = 3
const HALF_LIFE_MS = 5 * 60_000
const MAX_OPEN = 8
const MAX_RACES = 10
/** Row values without open links. */
export const NO_LINKS = { sealed: { 'oauth.flow': null }, set: { stateHash: null, stateUntil: null } } as const

export class SignInLinks {
  readonly #deps: { store: SessionStore; options: SignInOptions }
  readonly #pending = new Map<string, Promise<SignInFlow>>()

  constructor(deps: { store: SessionStore; options: SignInOptions }) {
    this.#deps = deps
  }

  /** Error of a call, with the link to open. */
  async signInNeeded(target: SignInTarget, challenge: Challenge, attempts: AuthAttempts): Promise<HostError> {
    if (attempts.repeats > MAX_REPEATS)
      return new HostError('sign-in-needed', {
        detail: 'The server still refuses after signing in again for what it asked for.',
        action: 'Ask whoever runs the server for the permission; signing in again does not give it.',
      })
    try {
      const { url } = await this.link(target, challenge, attempts)
      return new HostError('sign-in-needed', {
        detail: `"${target.toolkit}" wants you to sign in. Open the link, then try again.`,
        action: url,
      })
    } catch (error) {
      const { signInError } = await import('../errors.ts')
      const { message, action, code } = signInError(error)
      return new HostError(code === 'address-blocked' ? code : 'sign-in-needed', { detail: message, action })
    }
  }

  /** Returns a reusable open link, or creates one. */
  link(target: SignInTarget, challenge: Challenge, attempts: AuthAttempts): Promise<SignInFlow> {
    const { userId, toolkit } = target.owner
    const key = JSON.stringify([userId, toolkit, challenge.scope ?? ''])
    const pending = this.#pending.get(key) ?? this.#create(target, challenge, attempts)
    this.#pending.set(key, pending)
    const done = () => this.#pending.delete(key)
    pending.then(done, done)
    return pending
  }

  /** Removes and returns the flow of a state; of several callers with the same state, one succeeds. */
  consume({ owner }: SignInTarget, state: string): Promise<SignInFlow> {
    const { store } = this.#deps
    return retryOnConflict(async () => {
      const { stateHash } = await store.ensureRow(owner)
      const open = readFlows(await store.sealed(owner, 'oauth.flow'))
      const flow = await findFlow(open, state)
      if (!flow) throw new HostError('sign-in-link-invalid')
      const remaining = open.filter((candidate) => candidate !== flow)
      await store.write(owner, {
        sealed: { 'oauth.flow': remaining },
        set: await rowMarks(remaining),
        where: { stateHash },
      })
      return flow
    })
  }

  #create(target: SignInTarget, challenge: Challenge, attempts: AuthAttempts): Promise<SignInFlow> {
    const { store, options } = this.#deps
    const { owner } = target
    return retryOnConflict(async () => {
      const redirectUrl = requireRedirectUrl(options)
      const { stateHash, signInId } = await store.ensureRow(owner)
      const open = readFlows(await store.sealed(owner, 'oauth.flow'))
      const reusable = open.findLast((candidate) => isReusable(candidate, { target, challenge, redirectUrl }))
      if (reusable) return reusable
      const counted = countStepUps(attempts, open)
      const clients = ((await store.sealed(owner, 'oauth.clients')) ?? {}) as Clients
      const state = newState(signInId)
      const { beginFlow, issuerOf } = await import('./authorize.ts')
      const flow = await beginFlow({ target, redirectUrl, options, challenge, clients, state, attempts: counted })
      const flows = [...open, flow].slice(-MAX_OPEN)
      const registered = target.settings.clientId === undefined ? { [issuerOf(flow.discovery)]: flow.client } : {}
      await store.write(owner, {
        sealed: { 'oauth.flow': flows, 'oauth.clients': { ...clients, ...registered } },
        set: await rowMarks(flows),
        where: { stateHash },
      })
      return flow
    })
  }
}

/** Retries after a concurrent write, because the other process's link may be reusable. */
async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!HostError.is(error) || error.code !== 'conflict' || attempt >= MAX_RACES) throw error
    }
  }
}

/** Unused links count too. */
function countStepUps(attempts: AuthAttempts, open: readonly SignInFlow[]): AuthAttempts {
  if (attempts.stepUps === 0) return attempts
  const stepUps = Math.max(attempts.stepUps, ...open.map((flow) => flow.stepUps + 1))
  if (stepUps > MAX_STEP_UPS) throw tooManyStepUps()
  return { ...attempts, stepUps }
}

export const tooManyStepUps = () =>
  new HostError('sign-in-needed', {
    detail: `The server has asked for more permissions ${MAX_STEP_UPS} times, and asks again.`,
    action: 'Ask whoever runs the server what it needs. If you trust it, sign in to it again.',
  })

function requireRedirectUrl(options: SignInOptions): string {
  const redirectUrl = redirectUrlOf(options)
  if (redirectUrl !== undefined) return redirectUrl
  throw new HostError('sign-in-failed', {
    detail: 'The server wants a sign-in, and this host has no address that people could come back to.',
    action: 'Give createHost signIn.redirectUrl, or give the toolkit a token.',
  })
}

function isReusable(
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
