/** Path in front of an app that is mounted inside another one. */

import { HostError } from '@loadout/core'

const SEGMENTS = /^(\/[\w.~-]+)*$/

/** Returns a path that starts with a slash and does not end with one; empty for the root. */
export function normalizeBasePath(path: string): string {
  const trimmed = path.replace(/\/+$/, '')
  const normalized = trimmed === '' || trimmed.startsWith('/') ? trimmed : `/${trimmed}`
  if (SEGMENTS.test(normalized)) return normalized
  throw new HostError('config-invalid', {
    detail: `basePath is \`${path}\`. Its segments may contain letters, digits and \`-._~\``,
    action: 'Set basePath to a plain path such as `/tools`.',
  })
}

/** Appends a path to a URL and keeps the path that the URL has. */
export function joinUrl(base: string, path: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  url.search = ''
  url.hash = ''
  return url.href
}

/**
 * Returns the request with the path that routes know. A framework may pass a Proxy of its request, which `Request`
 * cannot read, so the new request is created from its properties.
 */
export function withoutBasePath(request: Request, basePath: string): Request {
  if (basePath === '') return request
  const url = new URL(request.url)
  if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`)) return request
  url.pathname = url.pathname.slice(basePath.length) || '/'
  return copyRequest(request, { url })
}

/** Creates a request from the properties of another one, which may be a Proxy. */
export function copyRequest(
  { url, method, headers, body, signal }: Request,
  changes: { url?: URL; headers?: Headers; body?: BodyInit } = {},
): Request {
  const init = { method, headers: changes.headers ?? headers, body: changes.body ?? body, signal, duplex: 'half' }
  return new Request(changes.url ?? url, init)
}
