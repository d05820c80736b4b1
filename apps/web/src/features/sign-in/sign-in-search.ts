/** Where to go after signing in, and what went wrong on the way here. */
import { pickStrings } from '../../lib/url-search.ts'

export interface SignInSearch {
  returnTo?: string
  problem?: string
}

export function readSignInSearch(search: Record<string, unknown>): SignInSearch {
  const { returnTo, problem } = pickStrings(search, ['returnTo', 'problem'])
  return { ...(returnTo && isOwnPath(returnTo) && { returnTo }), ...(problem && { problem }) }
}

/** A link must not send who has just signed in to somebody else's page. */
export const isOwnPath = (path: string): boolean => /^\/(?![/\\])/.test(path)
