/** URL search parameters: return path and problem code. */
import { pickStrings } from '../../lib/url-search.ts'

export interface SignInSearch {
  returnTo?: string
  problem?: string
}

export function readSignInSearch(search: Record<string, unknown>): SignInSearch {
  const { returnTo, problem } = pickStrings(search, ['returnTo', 'problem'])
  return { ...(returnTo && isOwnPath(returnTo) && { returnTo }), ...(problem && { problem }) }
}

/** Prevents open redirects after sign-in. */
export const isOwnPath = (path: string): boolean => /^\/(?![/\\])/.test(path)
