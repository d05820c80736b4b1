/** Problem documents (RFC 9457): the single place that builds error responses. */

import type { HostError } from '@loadout/core'
import type { Context } from 'hono'
import { z } from 'zod'

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    code: z.string(),
    detail: z.string(),
    action: z.string(),
    requestId: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' })
export type Problem = z.infer<typeof problem>

export function toProblem(error: HostError, requestId: string): Problem {
  // Details of internal errors stay in the log; the response has the request id.
  const detail = error.code === 'internal' ? error.title : error.message
  return {
    type: `urn:loadout:problem:${error.code}`,
    title: error.title,
    status: error.status,
    code: error.code,
    detail,
    action: error.action,
    requestId,
    ...(error.errors ? { errors: error.errors } : {}),
  }
}

export function sendProblem(c: Context, error: HostError, headers: Record<string, string> = {}): Response {
  const body = JSON.stringify(toProblem(error, c.get('requestId') ?? ''))
  const { retryAfterMs } = error
  return c.body(body, error.status as 500, {
    ...headers,
    'content-type': 'application/problem+json',
    // RFC 9110: a 401 names how to authenticate.
    ...(error.status === 401 ? { 'www-authenticate': 'Bearer realm="Loadout"' } : {}),
    ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
  })
}

/** Problem response of every route. */
export const problemResponses = {
  default: {
    description: 'A problem, with a stable code and what to do',
    content: { 'application/problem+json': { schema: problem } },
  },
} as const
