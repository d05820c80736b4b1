/** Sends model requests through the host's drivers, so that its proxy and SSRF guard apply. */
import { HostError } from '../errors.ts'

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** Type that provider packages expect. */
export type ProviderFetch = typeof fetch

export function modelFetch(send: Fetch | undefined): ProviderFetch | undefined {
  if (!send) return undefined
  return async (input, init) => {
    const url = input instanceof Request ? input.url : input
    try {
      // No redirects: the key must not go to another address.
      return await send(url, { ...init, redirect: 'manual' })
    } catch (error) {
      // The SDK retries a TypeError, like that of the platform's fetch.
      if (HostError.is(error) && error.code === 'server-unreachable')
        throw new TypeError('fetch failed', { cause: error })
      throw error
    }
  }
}
