/**
 * Stdio policy for users. Templates show only their inputs; command, arguments and environment belong to the operator.
 */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { offeredTemplate } from '@loadout/core/schema'
import { z } from 'zod'
import type { Env } from '../../http/env.ts'
import { json, named } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'
import type { StartSettings } from './app.ts'

const rules = z
  .object({
    policy: z
      .enum(['off', 'templates', 'sandbox', 'on'])
      .optional()
      .meta({ description: 'None, prepared ones, any in a sandbox, any; missing where the app itself decides' }),
    templates: z.array(named(offeredTemplate, 'StdioTemplate')),
  })
  .meta({ id: 'StdioRules' })

const show = createRoute({
  method: 'get',
  path: '/stdio',
  summary: 'Which commands the caller may bring, and what the prepared ones ask for',
  responses: { 200: json(rules, 'It, without anything that the operator wrote into them'), ...problemResponses },
})

export function stdioRoutes({ stdio, offered = [] }: Pick<StartSettings, 'stdio' | 'offered'>) {
  const templates = stdio === 'templates' ? [...offered] : []
  return new OpenAPIHono<Env>().openapi(show, (c) =>
    c.json({ ...(stdio === undefined ? {} : { policy: stdio }), templates }, 200),
  )
}
