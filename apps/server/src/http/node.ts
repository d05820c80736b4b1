/** Request listener for `node:http`, Express and other servers that take one. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { App, RequestSource } from './app.ts'

/** A body parser in front of the listener has consumed the stream and left its result here. */
type ParsedRequest = IncomingMessage & { body?: unknown; rawBody?: Buffer }

/**
 * @example
 * express().use('/tools', toNodeHandler(createApp({ host, authenticate, basePath: '/tools' })))
 */
export function toNodeHandler(app: Pick<App, 'fetch'>): (request: IncomingMessage, response: ServerResponse) => void {
  const listen = getRequestListener((request, env) => app.fetch(request, env as RequestSource), {
    overrideGlobalObjects: false,
  })
  return (request: ParsedRequest, response) => {
    if (request.readableEnded && request.body !== undefined) request.rawBody ??= bytesOf(request.body)
    void listen(request, response)
  }
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
