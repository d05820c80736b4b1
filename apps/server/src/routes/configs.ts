/** Config routes of source 003: typed configs, introspection, and tools of all configs by name. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import { configType, toolManifest } from '@loadout/core/schema'
import type { CatalogTool, HostServices, StoredToolkit } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { json, jsonBodyOf, named } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

const manifest = named(toolManifest, 'ToolManifest')
const storedTool = toolManifest
  .extend({
    is_active: z.boolean().meta({ description: 'False: the server no longer lists it, or it was set aside' }),
    reason: z.string().optional().meta({ description: 'Why it is not active' }),
  })
  .meta({ id: 'StoredTool' })
const configBody = z.strictObject({
  uscoId: z.string().optional(),
  name: z.string(),
  config_type: configType.optional(),
  config_json: z.record(z.string(), z.unknown()),
  server_id: z.string().max(200).nullish(),
})
const introspection = z.object({
  status: z.enum(['pending', 'success', 'error']),
  reason: z.string().optional(),
  at: z.iso.datetime().optional(),
})
const config = z.object({ usco_id: z.string(), name: z.string(), config_type: configType, introspection })

const save = createRoute({
  method: 'post',
  path: '/mcp/config',
  summary: 'Save a config; its tools are introspected behind',
  request: { body: jsonBodyOf(configBody.meta({ id: 'ConfigInput' })) },
  responses: {
    200: json(z.object({ usco_id: z.string(), warnings: z.array(z.string()).optional() }), 'Saved'),
    ...problemResponses,
  },
})
const check = createRoute({
  method: 'post',
  path: '/mcp/config/check',
  summary: 'What saving a config would say of it; nothing is stored and nothing is run',
  request: {
    body: jsonBodyOf(configBody.pick({ uscoId: true, name: true, config_json: true }).meta({ id: 'ConfigCheckInput' })),
  },
  responses: {
    200: json(
      z.object({
        valid: z.boolean(),
        errors: z.array(z.object({ path: z.string(), message: z.string() })),
        warnings: z.array(z.string()),
      }),
      'Every error with its place',
    ),
    ...problemResponses,
  },
})
const list = createRoute({
  method: 'get',
  path: '/mcp/config',
  summary: "The caller's configs",
  responses: { 200: json(z.object({ configs: z.array(config) }), 'All of them'), ...problemResponses },
})
const introspect = createRoute({
  method: 'post',
  path: '/mcp/config/introspect',
  summary: 'Discover the tools of a config now',
  request: { body: jsonBodyOf(z.strictObject({ uscoId: z.string() })) },
  responses: { 200: json(z.object({ tools: z.array(manifest) }), 'Its tools'), ...problemResponses },
})
const tools = createRoute({
  method: 'get',
  path: '/mcp/config/tools',
  summary: 'The stored tools by server name; what is stale is refreshed behind',
  request: { query: z.object({ uscoId: z.string().optional() }) },
  responses: {
    200: json(z.object({ tools: z.record(z.string(), z.array(storedTool)), cached: z.boolean() }), 'By name'),
    ...problemResponses,
  },
})

export function configRoutes(host: HostServices) {
  const own = async (userId: string, uscoId?: string) => {
    if (uscoId === undefined) return (await host.toolkits.list(userId)).filter((stored) => stored.tier === 'user')
    const found = await host.toolkits.find(userId, uscoId)
    if (found.tier !== 'user') throw new HostError('not-found', { detail: 'There is no such config of yours.' })
    return [found]
  }

  return new OpenAPIHono<Env>()
    .openapi(save, async (c) => {
      const { userId } = c.var.principal
      const { uscoId, name, config_type, config_json, server_id } = c.req.valid('json')
      const record = { ...config_json, ...(uscoId === undefined ? {} : { id: undefined }), name }
      const options = {
        ...(uscoId === undefined ? {} : { uscoId }),
        serverId: server_id,
        configType: config_type,
      }
      const { stored, warnings } = await host.toolkits.register(record, { tier: 'user', userId }, options)
      // In the background; the caller reads the result later.
      if (stored.enabled) host.catalog.introspect(stored, userId).catch(() => {})
      return c.json({ usco_id: stored.uscoId, ...(warnings.length > 0 ? { warnings } : {}) }, 200)
    })
    .openapi(check, async (c) => {
      const { userId } = c.var.principal
      const { uscoId, name, config_json } = c.req.valid('json')
      const [changed] = uscoId === undefined ? [] : await own(userId, uscoId)
      // Tools are named by the stored id, even after a rename.
      const record = { ...config_json, name, id: changed?.toolkit.id }
      try {
        const warnings = await host.toolkits.check(record, { tier: 'user', userId })
        return c.json({ valid: true, errors: [], warnings }, 200)
      } catch (error) {
        if (!HostError.is(error) || error.code !== 'invalid-input') throw error
        return c.json({ valid: false, errors: error.errors ?? [], warnings: [] }, 200)
      }
    })
    .openapi(list, async (c) => {
      const configs = await own(c.var.principal.userId)
      return c.json({ configs: configs.map(viewConfig) }, 200)
    })
    .openapi(introspect, async (c) => {
      const { userId } = c.var.principal
      const [stored] = await own(userId, c.req.valid('json').uscoId)
      if (!stored?.enabled)
        throw new HostError('forbidden', { detail: 'This config is switched off.', action: 'Switch it on first.' })
      // A user's request resets the circuit breaker.
      await host.connections.reset(stored.uscoId, userId)
      return c.json({ tools: await host.catalog.introspect(stored, userId) }, 200)
    })
    .openapi(tools, async (c) => {
      const { userId } = c.var.principal
      const configs = await own(userId, c.req.valid('query').uscoId)
      const cached = !configs.some((stored) => host.catalog.isStale(stored))
      const byId = await host.catalog.tools(userId, configs)
      const grouped = Object.fromEntries(
        configs.map((stored) => [stored.toolkit.name, (byId.get(stored.uscoId) ?? []).map(viewTool)]),
      )
      return c.json({ tools: grouped, cached }, 200)
    })
}

function viewTool({ manifest, inactive }: CatalogTool): z.infer<typeof storedTool> {
  return { ...manifest, is_active: inactive === undefined, ...(inactive === undefined ? {} : { reason: inactive }) }
}

function viewConfig({ uscoId, toolkit, row, lastFailure }: StoredToolkit): z.infer<typeof config> {
  const { introspectionStatus, introspectedAt } = row
  const reason = lastFailure ? `${lastFailure.code}: ${lastFailure.reason}` : row.introspectionReason
  return {
    usco_id: uscoId,
    name: toolkit.name,
    config_type: row.configType,
    introspection: {
      status: introspectionStatus ?? 'pending',
      ...(reason === null ? {} : { reason }),
      ...(introspectedAt === null ? {} : { at: introspectedAt.toISOString() }),
    },
  }
}
