import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../../http/env.ts'
import { assertOperator } from '../../http/middleware.ts'
import { problemResponses } from '../../http/problem.ts'

const backup = createRoute({
  method: 'get',
  path: '/app/backup',
  summary: 'A copy of the embedded database, for `loadout restore`; operators only',
  responses: {
    200: {
      description: 'A compressed archive',
      content: { 'application/gzip': { schema: z.string().meta({ format: 'binary' }) } },
    },
    ...problemResponses,
  },
})

export function backupRoutes(host: HostServices) {
  return new OpenAPIHono<Env>().openapi(backup, async (c) => {
    assertOperator(c.var.principal)
    if (!host.backup)
      throw new HostError('conflict', {
        detail: 'This host keeps its data in PostgreSQL.',
        action: 'Back it up with the tools of PostgreSQL, for example pg_dump.',
      })
    return c.body((await host.backup()) as Uint8Array<ArrayBuffer>, 200, { 'content-type': 'application/gzip' })
  })
}
