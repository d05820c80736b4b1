/** Import and export routes for configs of other apps. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { exportToolkits } from '@loadout/core'
import { exportedConfig, exportFormat, importOptions, importReport, parse } from '@loadout/core/schema'
import type { HostServices, ImportReport } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { json, jsonBodyOf, named } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

/** The library parses the body; the schema only requires an object. */
const importBody = z.record(z.string(), z.unknown()).meta({
  id: 'ImportInput',
  description:
    'A config as it is (`{ mcpServers }`, `{ servers, inputs? }`, servers by name, or one server), or `{ config | text, values?, preview?, only? }`. `text` is JSON with comments and trailing commas; `values` are those of inputs, by name; `only` names the entries that are meant.',
  example: {
    config: { mcpServers: { github: { command: 'npx', args: ['server'], env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' } } } },
    values: { GITHUB_TOKEN: '…' },
    preview: true,
  },
})

const save = createRoute({
  method: 'post',
  path: '/mcp/import',
  summary: "Add or update the caller's toolkits from a config of another app; tells what became of each entry",
  request: {
    query: z.object({
      preview: z.enum(['true', 'false']).optional(),
      wait: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: '`true`: the response waits until each server is connected or has failed' }),
    }),
    body: jsonBodyOf(importBody),
  },
  responses: { 200: json(named(importReport, 'ImportReport'), 'What became of each entry'), ...problemResponses },
})
const list = createRoute({
  method: 'get',
  path: '/mcp/export',
  summary: "The caller's own toolkits as a config that other apps read, secrets as placeholders",
  request: { query: z.object({ format: exportFormat.optional() }) },
  responses: { 200: json(named(exportedConfig, 'ExportedConfig'), 'The config'), ...problemResponses },
})

export function importRoutes(host: HostServices) {
  return new OpenAPIHono<Env>()
    .openapi(save, async (c) => {
      const { userId } = c.var.principal
      const { source, preview, options } = readBody(c.req.valid('json'))
      const owner = { tier: 'user', userId } as const
      if (preview || c.req.valid('query').preview === 'true')
        return c.json(await host.imports.preview(source, owner, options), 200)
      const report = await host.imports.apply(source, owner, options)
      const discovering = discover(host, userId, report)
      if (c.req.valid('query').wait === 'true') await discovering
      return c.json(report, 200)
    })
    .openapi(list, async (c) => {
      const toolkits = await host.toolkits.list(c.var.principal.userId)
      const own = toolkits.filter((stored) => stored.tier === 'user')
      return c.json(exportToolkits(own, c.req.valid('query')), 200)
    })
}

const wrapped = importOptions.extend({
  config: z.unknown().optional(),
  text: z.string().optional(),
  preview: z.boolean().optional(),
})
const beside = wrapped.pick({ values: true, preview: true, only: true })

/** Accepts a config with options around it, beside it, or none. */
function readBody(body: Record<string, unknown>) {
  if (typeof body.text === 'string' || body.config !== undefined) {
    const { config, text, preview = false, ...options } = parse(wrapped, body)
    return { source: text ?? config, preview, options }
  }
  // In a bare server map, `values`, `only` and `preview` are server names.
  if (body.mcpServers === undefined && body.servers === undefined) return { source: body, preview: false, options: {} }
  const { values, only, preview, ...source } = body
  const { preview: isPreview = false, ...options } = parse(beside, { values, only, preview })
  return { source, preview: isPreview, options }
}

const AT_ONCE = 4

/** Discovers imported servers four at a time, so that a large config does not start all of them at once. */
async function discover(host: HostServices, userId: string, { entries }: ImportReport): Promise<void> {
  const ids = entries.flatMap(({ id, status }) => (id && (status === 'added' || status === 'updated') ? [id] : []))
  const worker = async () => {
    for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
      const stored = await host.toolkits.find(userId, id)
      // A failure is part of the toolkit's state.
      if (stored.enabled) await host.catalog.introspect(stored, userId).catch(() => {})
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, () => worker().catch(() => {})))
}
