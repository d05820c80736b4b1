/** How a request to a model leaves: through the host's drivers, so that its proxy and its guard hold for models too. */
import { HostError } from '../errors.ts'

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** As the packages of the providers take it. */
export type ProviderFetch = typeof fetch

export function modelFetch(send: Fetch | undefined): ProviderFetch | undefined {
  if (!send) return undefined
  return async (input, init) => {
    const url = input instanceof Request ? input.url : input
    try {
      // An API has its own address: a key goes nowhere else.
      return await send(url, { ...init, redirect: 'manual' })
    } catch (error) {
      // As the SDK knows it from the fetch of the platform: to be tried again.
      if (HostError.is(error) && error.code === 'server-unreachable')
        throw new TypeError('fetch failed', { cause: error })
      throw error
    }
  }
}
