import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../../http/env.ts'
import { problemResponses } from '../../http/problem.ts'

const READY_WITHIN_MS = 2000

const alive = z.object({ status: z.literal('ok'), version: z.string() }).meta({ id: 'Health' })
const answer = { 200: { description: 'Yes', content: { 'application/json': { schema: alive } } }, ...problemResponses }

export function healthRoutes(host: HostServices, version: string) {
  return new OpenAPIHono<Env>()
    .openapi(
      createRoute({
        method: 'get',
        path: '/healthz',
        security: [],
        summary: 'Is the process alive',
        responses: answer,
      }),
      (c) => c.json({ status: 'ok' as const, version }, 200),
    )
    .openapi(
      createRoute({
        method: 'get',
        path: '/readyz',
        security: [],
        summary: 'Does the storage answer',
        responses: answer,
      }),
      async (c) => {
        await within(host.storage.transaction({ userId: 'readiness' }, (tx) => tx.get('preferences', 'preferences')))
        return c.json({ status: 'ok' as const, version }, 200)
      },
    )
}

async function within(work: Promise<unknown>): Promise<void> {
  const late = AbortSignal.timeout(READY_WITHIN_MS)
  const timeout = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(new HostError('storage-unavailable')), { once: true })
  })
  await Promise.race([work, timeout]).catch((error) => {
    throw HostError.is(error) ? error : new HostError('storage-unavailable', { cause: error })
  })
}
