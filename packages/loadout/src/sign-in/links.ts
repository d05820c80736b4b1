/** Links for people to sign in with: one that is open for the same is given again, a new one is made once however many ask. */
import { HostError } from '../errors.ts'
import { beginFlow, type Challenge, type Clients, issuerOf } from './authorize.ts'
import { signInError } from './failures.ts'
import { hashOf, readFlow, type SignInFlow } from './flow.ts'
import { isWithin } from './scopes.ts'
import type { SessionStore } from './session-store.ts'
import { redirectUrlOf, type SignInOptions, type SignInTarget } from './target.ts'

/** Sign-ins for want of a scope that was asked for already: more of them do not help. */
const MOST_REPEATS = 1
const HALF_LIFE_MS = 5 * 60_000
export const NO_STATE = { stateHash: null, stateUntil: null } as const

export class SignInLinks {
  readonly #parts: { store: SessionStore; options: SignInOptions }
  readonly #beginning = new Map<string, Promise<SignInFlow>>()

  constructor(parts: { store: SessionStore; options: SignInOptions }) {
    this.#parts = parts
  }

  /** The error that a call ends with, with the link to open. */
  async needed(target: SignInTarget, challenge: Challenge, repeats: number): Promise<HostError> {
    if (repeats > MOST_REPEATS)
      return new HostError('sign-in-needed', {
        detail: 'The server still refuses after signing in again for what it asked for.',
        action: 'Ask whoever runs the server for the permission; signing in again does not give it.',
      })
    try {
      const { url } = await this.link(target, challenge, repeats)
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
  link(target: SignInTarget, challenge: Challenge, repeats: number): Promise<SignInFlow> {
    const { userId, toolkit } = target.owner
    const key = JSON.stringify([userId, toolkit, challenge.scope ?? ''])
    const beginning = this.#beginning.get(key) ?? this.#begin(target, challenge, repeats)
    this.#beginning.set(key, beginning)
    const done = () => this.#beginning.delete(key)
    beginning.then(done, done)
    return beginning
  }

  /** Of many who bring the same state, one succeeds. */
  async useUp({ owner }: SignInTarget, state: string): Promise<void> {
    const where = { stateHash: await hashOf(state) }
    await this.#parts.store.write(owner, { sealed: { 'oauth.flow': null }, set: NO_STATE, where }).catch((error) => {
      throw HostError.is(error) && error.code === 'conflict' ? new HostError('sign-in-link-invalid') : error
    })
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
}

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
