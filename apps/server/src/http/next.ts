/** Route handlers for the Next.js App Router. */
import type { App } from './app.ts'
import { copyRequest } from './base-path.ts'

export type NextHandler = (request: Request) => Promise<Response>

export interface NextHandlers {
  GET: NextHandler
  POST: NextHandler
  PUT: NextHandler
  PATCH: NextHandler
  DELETE: NextHandler
}

/**
 * Handlers of a catch-all route such as `app/tools/[[...path]]/route.ts`.
 *
 * @example
 * export const { GET, POST, PUT, PATCH, DELETE } = toNextHandler(app)
 */
export function toNextHandler(app: Pick<App, 'fetch'>): NextHandlers {
  const handle: NextHandler = async (request) => {
    const headers = new Headers(request.headers)
    // Next.js compresses responses itself; a response that is compressed twice is unreadable.
    headers.delete('accept-encoding')
    return app.fetch(copyRequest(request, { headers }))
  }
  return { GET: handle, POST: handle, PUT: handle, PATCH: handle, DELETE: handle }
}
