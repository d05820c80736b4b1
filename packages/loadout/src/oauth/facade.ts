/** Sign-in as apps offer it: by the user and the toolkit's name. What belongs to another does not exist. */
import { HostError } from '../errors.ts'
import type { SignInView } from '../schema/toolkit/sign-in.ts'
import type { Registry } from '../toolkits/registry.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { ImportedTokens } from './flow/imported-tokens.ts'
import type { Callback, OAuthService, SignInLink } from './service.ts'

export interface SignIns {
  /** A link for the user to open, good once and for ten minutes. */
  start(userId: string, toolkit: string): Promise<SignInLink>
  /** Who a callback is for, and of which toolkit: to be shown to whoever came back, where nothing else says who that is. */
  whose(state: string): Promise<{ userId: string; toolkit: string; name: string }>
  /**
   * What the user brings back. With `userId` only that user's own link is taken; without it whoever holds the link is
   * believed, so ask them first whether the account is theirs.
   */
  finish(callback: Callback, expected?: { userId: string }): Promise<{ userId: string; toolkit: string }>
  /** Tokens that the app has of this user already: kept, used and renewed like those of a sign-in here. */
  give(userId: string, toolkit: string, tokens: ImportedTokens): Promise<void>
  /** Forgets the user's tokens of a toolkit, and revokes them where its server can; an operator also ends the app's own. */
  disconnect(userId: string, toolkit: string, caller?: { isOperator: boolean }): Promise<{ revoked: boolean }>
  view(userId: string, toolkit: string): Promise<SignInView | undefined>
}

export interface SignInsDeps {
  signIns: OAuthService
  registry: Pick<Registry, 'find'>
  /** Looks at the server anew: what it offers may only be known now. */
  refresh(stored: StoredToolkit, userId: string): Promise<unknown>
}

/** Who comes back waits so long for the tools, and no longer. */
const REFRESH_TIMEOUT_MS = 5000

export function createSignIns({ signIns, registry, refresh }: SignInsDeps): SignIns {
  const resolveState = async (state: string) => {
    const { userId, uscoId } = await signIns.whose(state)
    const stored = await registry.find(userId, uscoId).catch((error: unknown) => {
      // The toolkit is gone, and with it whatever the link was for.
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

/** Signed in is signed in, whatever comes of the look. */
async function settleWithin(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work.catch(() => {}), late])
  clearTimeout(timer)
}
