/**
 * HTTP API and web UI of a host as one fetch handler. `createApp({ host, authenticate }).fetch` runs in Node, in a
 * Next.js route or in any server with Request and Response; it reads no environment and opens no port.
 */
import { createApi } from './api.ts'
import type { AppOptions } from './app-options.ts'
import { normalizeBasePath, withoutBasePath } from './base-path.ts'
import { serveWeb } from './web.ts'

export type { Log } from '../ops/log.ts'
export type { AppOptions } from './app-options.ts'
export type { Authenticate } from './middleware.ts'

/** Connection of a request, for its client address. `toNodeHandler` passes it. */
export interface RequestSource {
  incoming?: { socket?: { remoteAddress?: string | undefined } }
}

/** Fetch handler of `createApp`. */
export interface App {
  /** Path in front of the API and the UI, without a trailing slash; empty at the root. */
  readonly basePath: string
  readonly fetch: (request: Request, source?: RequestSource) => Promise<Response>
  /** Answers a request without a server, as tests do: `app.request('/api/mcp')`. */
  readonly request: (input: string | Request, init?: RequestInit, source?: RequestSource) => Promise<Response>
}

export function createApp({ webDir, basePath: mountPath, ...options }: AppOptions): App {
  const basePath = normalizeBasePath(mountPath ?? pathOf(options.publicUrl))
  const api = createApi({ ...options, basePath })
  if (webDir !== undefined) serveWeb(api, webDir, basePath)
  const respond = async (request: Request, source?: RequestSource) =>
    api.fetch(withoutBasePath(request, basePath), source)
  return {
    basePath,
    fetch: respond,
    request: (input, init, source) =>
      respond(input instanceof Request ? input : new Request(new URL(input, 'http://localhost'), init), source),
  }
}

const pathOf = (publicUrl: string | undefined) => (publicUrl === undefined ? '' : new URL(publicUrl).pathname)
