/** Sign-in API for apps, by user and toolkit name. Toolkits of other users are `not-found`. */
import { HostError } from '../errors.ts'
import type { SignInView } from '../schema/toolkit/sign-in.ts'
import type { Registry } from '../toolkits/registry.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { withTimeout } from '../util/abort.ts'
import type { ImportedTokens } from './flow/imported-tokens.ts'
import type { Callback, OAuthService, SignInLink } from './service.ts'

export interface SignIns {
  /** Creates a link for the user; it works once and for 10 minutes. */
  start(userId: string, toolkit: string): Promise<SignInLink>
  /** Returns the user and toolkit of a callback, for a confirmation page without a session. */
  whose(state: string): Promise<{ userId: string; toolkit: string; name: string }>
  /**
   * Completes a sign-in. With `userId` it only accepts that user's link. Without it anyone with the link is accepted,
   * so ask first whether the account is theirs.
   */
  finish(callback: Callback, expected?: { userId: string }): Promise<{ userId: string; toolkit: string }>
  /** Imports tokens that the app already has; they are stored, used and refreshed like those of a sign-in. */
  give(userId: string, toolkit: string, tokens: ImportedTokens): Promise<void>
  /**
   * Deletes the user's tokens and revokes them if the server supports it. An operator also ends the app's shared
   * session.
   */
  disconnect(userId: string, toolkit: string, caller?: { isOperator: boolean }): Promise<{ revoked: boolean }>
  view(userId: string, toolkit: string): Promise<SignInView | undefined>
}

export interface SignInsDeps {
  signIns: OAuthService
  registry: Pick<Registry, 'find'>
  /** Refreshes the catalog, because a server may list more tools after a sign-in. */
  refresh(stored: StoredToolkit, userId: string): Promise<unknown>
}

/** Milliseconds that `finish` waits for the tools. */
const REFRESH_TIMEOUT_MS = 5000

export function createSignIns({ signIns, registry, refresh }: SignInsDeps): SignIns {
  const resolveState = async (state: string) => {
    const { userId, uscoId } = await signIns.whose(state)
    const stored = await registry.find(userId, uscoId).catch((error: unknown) => {
      // The toolkit was removed, so its link is invalid.
      throw HostError.is(error) && error.code === 'not-found' ? new HostError('sign-in-link-invalid') : error
    })
    return { userId, stored }
  }
  return {
    start: async (userId, toolkit) => signIns.start(await registry.find(userId, toolkit), userId),
    async whose(state) {
      const { userId, stored } = await resolveState(state)
      return { userId, toolkit: stored.toolkit.id, name: stored.toolkit.name }
    },
    async finish(callback, expected) {
      const { userId, stored } = await resolveState(callback.state)
      if (expected && expected.userId !== userId) throw new HostError('sign-in-link-invalid')
      await signIns.finish(stored, userId, callback)
      await settleWithin(REFRESH_TIMEOUT_MS, refresh(stored, userId))
      return { userId, toolkit: stored.toolkit.id }
    },
    async give(userId, toolkit, tokens) {
      const stored = await registry.find(userId, toolkit)
      await signIns.give(stored, userId, tokens)
      await settleWithin(REFRESH_TIMEOUT_MS, refresh(stored, userId))
    },
    disconnect: async (userId, toolkit, caller) =>
      signIns.disconnect(await registry.find(userId, toolkit), userId, caller?.isOperator),
    view: async (userId, toolkit) => signIns.view(await registry.find(userId, toolkit), userId),
  }
}

/** A failed refresh must not fail the sign-in. */
async function settleWithin(ms: number, work: Promise<unknown>): Promise<void> {
  await withTimeout(
    work.catch(() => {}),
    ms,
  )
}
