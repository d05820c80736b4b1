import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { type ApiKeyRow, apiKeyInput, apiKeyView } from '@loadout/core/schema'
import { z } from 'zod'
import type { ApiKeys } from '../../auth/api-keys.ts'
import type { Env } from '../../http/env.ts'
import { idParam, named } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'

const key = named(apiKeyView, 'ApiKey')
const newKey = apiKeyView
  .extend({ key: z.string().meta({ description: 'The key itself, shown this once' }) })
  .meta({ id: 'NewApiKey' })

const list = createRoute({
  method: 'get',
  path: '/keys',
  summary: "The caller's API keys",
  responses: {
    200: {
      description: 'All that are in force',
      content: { 'application/json': { schema: z.object({ items: z.array(key) }) } },
    },
    ...problemResponses,
  },
})
const create = createRoute({
  method: 'post',
  path: '/keys',
  summary: 'Make an API key',
  request: {
    body: { required: true, content: { 'application/json': { schema: named(apiKeyInput, 'ApiKeyInput') } } },
  },
  responses: { 201: { description: 'Made', content: { 'application/json': { schema: newKey } } }, ...problemResponses },
})
const revoke = createRoute({
  method: 'delete',
  path: '/keys/{id}',
  summary: 'Revoke an API key',
  request: { params: idParam },
  responses: { 204: { description: 'Revoked' }, ...problemResponses },
})

export function keyRoutes(keys: ApiKeys) {
  return new OpenAPIHono<Env>()
    .openapi(list, async (c) => {
      const rows = await keys.list(c.var.principal.userId)
      return c.json({ items: rows.map(view) }, 200)
    })
    .openapi(create, async (c) => {
      const made = await keys.create(c.var.principal, c.req.valid('json'))
      return c.json({ ...view(made.row), key: made.key }, 201)
    })
    .openapi(revoke, async (c) => {
      await keys.revoke(c.var.principal, c.req.valid('param').id)
      return c.body(null, 204)
    })
}

function view(row: ApiKeyRow): z.infer<typeof apiKeyView> {
  return {
    id: row.keyId,
    userId: row.userId,
    name: row.name,
    hint: row.hint,
    role: row.role,
    scopes: row.scopesJson,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
  }
}
