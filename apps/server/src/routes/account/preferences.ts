import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { preferencesPatch, preferences as preferencesSchema } from '@loadout/core/schema'
import type { HostServices } from '@loadout/core/services'
import type { Env } from '../../http/env.ts'
import { named } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'

const preferences = named(preferencesSchema, 'Preferences')
const answer = {
  200: { description: "The caller's preferences", content: { 'application/json': { schema: preferences } } },
  ...problemResponses,
}

const show = createRoute({
  method: 'get',
  path: '/preferences',
  summary: "The caller's preferences",
  responses: answer,
})
const change = createRoute({
  method: 'patch',
  path: '/preferences',
  summary: 'Change some of them',
  request: {
    body: { required: true, content: { 'application/json': { schema: named(preferencesPatch, 'PreferencesPatch') } } },
  },
  responses: answer,
})

export function preferenceRoutes(host: HostServices) {
  return new OpenAPIHono<Env>()
    .openapi(show, async (c) => c.json(await host.preferences.get(c.var.principal.userId), 200))
    .openapi(change, async (c) =>
      c.json(await host.preferences.update(c.var.principal.userId, c.req.valid('json')), 200),
    )
}
