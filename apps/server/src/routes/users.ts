import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Host } from 'loadout'
import { assertOperator } from '../doors.ts'
import { idParam, json } from '../openapi.ts'
import { problemResponses } from '../problem.ts'
import type { Env } from '../variables.ts'

const removed = z
  .object({
    rows: z.number().openapi({ description: 'Rows that are gone, beside what went with them' }),
    lines: z.number().openapi({ description: 'Lines of the log that lost their person' }),
  })
  .openapi('RemovedUser')

const remove = createRoute({
  method: 'delete',
  path: '/users/{id}',
  summary: 'Remove a user with all that is theirs; the log stays whole without them; operators only',
  request: { params: idParam },
  responses: { 200: json(removed, 'Removed'), ...problemResponses },
})

export function userRoutes(host: Host) {
  return new OpenAPIHono<Env>().openapi(remove, async (c) => {
    assertOperator(c.var.principal)
    const gone = await host.users.remove(c.req.valid('param').id)
    // Who went is not named: that would keep them.
    await host.audit.record({ userId: c.var.principal.userId, action: 'user_removed', detail: { ...gone } })
    return c.json(gone, 200)
  })
}
