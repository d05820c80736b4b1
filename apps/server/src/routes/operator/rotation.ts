import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../../http/env.ts'
import { assertOperator } from '../../http/middleware.ts'
import { json } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'

const rotated = z
  .object({
    rewrapped: z.number().int().meta({ description: 'What is under the current key now, and was not before' }),
    lost: z.number().int().meta({ description: 'What no key of the ring opens: it must be entered again' }),
  })
  .meta({ id: 'Rotated' })

const rotate = createRoute({
  method: 'post',
  path: '/app/keys/rotate',
  summary: 'Put all that is sealed under the current master key, so that older ones can be taken out; operators only',
  responses: { 200: json(rotated, 'What became of it'), ...problemResponses },
})

export function rotationRoutes(host: HostServices) {
  return new OpenAPIHono<Env>().openapi(rotate, async (c) => {
    assertOperator(c.var.principal)
    return c.json(await host.credentials.rotate(), 200)
  })
}
