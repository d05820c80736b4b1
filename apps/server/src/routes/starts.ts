/** Cancels server starts. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { HostServices } from '@loadout/core/services'
import type { Env } from '../http/env.ts'
import { assertOperator } from '../http/middleware.ts'
import { idParam, json } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'
import { toolkit } from './toolkits.ts'

const cancel = createRoute({
  method: 'post',
  path: '/mcp/{id}/cancel',
  summary: 'Cancel the start of a server; its process ends',
  request: { params: idParam },
  responses: { 200: json(toolkit, 'The toolkit after the start was cancelled'), ...problemResponses },
})

export function startRoutes(host: HostServices) {
  return new OpenAPIHono<Env>().openapi(cancel, async (c) => {
    const { userId } = c.var.principal
    const stored = await host.toolkits.find(userId, c.req.valid('param').id)
    // Only operators may cancel a start that all users share.
    if (stored.tier === 'app' && stored.toolkit.shared) assertOperator(c.var.principal)
    await host.connections.cancel(stored, userId)
    return c.json(await host.views.one(userId, stored.uscoId), 200)
  })
}
