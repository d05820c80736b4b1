import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import { toolkitView as libraryView, listedToolkit, parse } from '@loadout/core/schema'
import type { HostServices, StoredToolkit } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { changedAt, etagOf, ifMatch } from '../http/etag.ts'
import { assertOperator } from '../http/middleware.ts'
import { idParam, json, jsonBodyOf, named } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'
import { withWarnings } from '../http/with-warnings.ts'
import { switchTools } from './tool-switches.ts'

export const toolkit = libraryView.extend({}).meta({ id: 'Toolkit' })

const listed = named(listedToolkit, 'ListedToolkit')

const SPELLINGS =
  'A server record: `{ name, command, args?, env?, cwd?, hosts? }`, `{ name, template, values? }`, `{ name, url, headers?, auth? }` or `{ name, tools }`; every spelling of the transport is read.'

/** The library parses all spellings of a record; the schema only requires an object. */
const toolkitBody = z.record(z.string(), z.unknown()).meta({
  id: 'ToolkitInput',
  description: SPELLINGS,
  example: { name: 'filesystem', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] },
})

const body = { body: { required: true, content: { 'application/json': { schema: toolkitBody } } } } as const

const list = createRoute({
  method: 'get',
  path: '/mcp',
  summary: "List the caller's toolkits, their own and the global ones",
  request: {
    query: z.object({
      include: z.enum(['schemas']).optional().meta({
        description:
          '`schemas`: tools have their schemas and whole descriptions. `GET /api/mcp/{id}` has those of one toolkit.',
      }),
    }),
  },
  responses: { 200: json(z.object({ toolkits: z.array(listed) }), 'The toolkits'), ...problemResponses },
})
const save = createRoute({
  method: 'post',
  path: '/mcp',
  summary: "Add one of the caller's, or update the one with the same id or name",
  request: body,
  responses: { 200: json(toolkit, 'Updated'), 201: json(toolkit, 'Added'), ...problemResponses },
})
const show = createRoute({
  method: 'get',
  path: '/mcp/{id}',
  summary: 'One toolkit; its `ETag` says when it was changed',
  request: { params: idParam },
  responses: { 200: json(toolkit, 'It'), ...problemResponses },
})
const change = createRoute({
  method: 'patch',
  path: '/mcp/{id}',
  summary:
    'Enable, rename or override; on a global one only `enabled` and `switches` (`{ tool: false }`), for the caller alone',
  request: { params: idParam, ...body },
  parameters: [ifMatch],
  responses: { 200: json(toolkit, 'Changed'), ...problemResponses },
})
const remove = createRoute({
  method: 'delete',
  path: '/mcp/{id}',
  summary: 'Delete one with its tools and credentials',
  request: { params: idParam },
  responses: { 204: { description: 'Deleted' }, ...problemResponses },
})

const introspect = createRoute({
  method: 'post',
  path: '/mcp/{id}/introspect',
  summary: 'Connect anew and refresh the tools; a failure is told in the state',
  request: {
    params: idParam,
    query: z.object({
      reconnect: z
        .enum(['true', 'false'])
        .default('true')
        .meta({ description: '`false`: the connection that is there is asked, and nothing is closed' }),
    }),
  },
  responses: { 200: json(toolkit, 'As it is now'), ...problemResponses },
})
const accept = createRoute({
  method: 'post',
  path: '/mcp/{id}/accept',
  summary:
    'Accept a tool, or all: one that changed (`tools[].changed`), or a new one of a server that is not trusted (`tools[].held`)',
  request: {
    params: idParam,
    body: jsonBodyOf(
      z
        .union([
          z.strictObject({ tool: z.string(), pin: z.string().optional() }),
          z.strictObject({ all: z.literal(true) }),
        ])
        .meta({ description: 'One tool, with the pin that the caller saw, or `all`' }),
    ),
  },
  responses: { 200: json(toolkit, 'As it is now'), ...problemResponses },
})

const serverOutput = z
  .object({
    running: z.boolean().meta({ description: 'Whether what printed it is still connected' }),
    items: z.array(
      z.object({
        source: z.enum(['stderr', 'log']).meta({ description: 'Printed, or logged by `notifications/message`' }),
        text: z.string(),
        at: z.iso.datetime().optional(),
        level: z.string().optional(),
        logger: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'ServerOutput' })
const output = createRoute({
  method: 'get',
  path: '/mcp/{id}/output',
  summary:
    'What its server printed and logged lately, in the process that answers, without secrets and control characters; of a global one for operators',
  request: { params: idParam },
  responses: { 200: json(serverOutput, 'The latest of it, oldest first'), ...problemResponses },
})

export function toolkitRoutes(host: HostServices) {
  /** Discovers the tools. A failure is part of the view's state, because the record is saved either way. */
  const viewAfterDiscovery = async (userId: string, stored: StoredToolkit) => {
    if (stored.enabled) await host.catalog.introspect(stored, userId).catch(() => {})
    return host.views.one(userId, stored.uscoId)
  }

  return new OpenAPIHono<Env>()
    .openapi(list, async (c) => {
      const { userId } = c.var.principal
      const withSchemas = c.req.valid('query').include === 'schemas'
      return c.json({ toolkits: await (withSchemas ? host.views.list(userId) : host.views.summaries(userId)) }, 200)
    })
    .openapi(save, async (c) => {
      const { userId } = c.var.principal
      const { stored, created, warnings } = await host.toolkits.register(c.req.valid('json'), { tier: 'user', userId })
      const view = await viewAfterDiscovery(userId, stored)
      return c.json(withWarnings(view, warnings), created ? 201 : 200)
    })
    .openapi(show, async (c) => {
      const { userId } = c.var.principal
      const { row, uscoId } = await host.toolkits.find(userId, c.req.valid('param').id)
      c.header('etag', etagOf(row))
      return c.json(await host.views.one(userId, uscoId), 200)
    })
    .openapi(change, async (c) => {
      const { userId } = c.var.principal
      const { id } = c.req.valid('param')
      const { switches: requestedSwitches, ...changes } = c.req.valid('json')
      const switches = parse(switchesSchema, { switches: requestedSwitches }).switches
      const unchangedSince = changedAt(c.req.header('if-match'))
      const found = await host.toolkits.find(userId, id)
      const hasMore = Object.keys(changes).length > 0
      if (found.tier === 'app' && (hasMore || !switches)) await switchGlobal(host, { userId, id, changes })
      if (switches) await switchTools(host, userId, { stored: found, switches })
      if (found.tier === 'app' || (switches && !hasMore)) return c.json(await host.views.one(userId, id), 200)
      const { stored, warnings } = await host.toolkits.update({ id, unchangedSince }, changes, { tier: 'user', userId })
      const view = touchesServer(changes)
        ? await viewAfterDiscovery(userId, stored)
        : await host.views.one(userId, stored.uscoId)
      return c.json(withWarnings(view, warnings), 200)
    })
    .openapi(remove, async (c) => {
      const { userId } = c.var.principal
      const found = await host.toolkits.find(userId, c.req.valid('param').id)
      if (found.tier === 'app')
        throw new HostError('read-only', { detail: `"${found.toolkit.id}" is a global toolkit.` })
      await host.toolkits.remove(found.uscoId, { tier: 'user', userId })
      return c.body(null, 204)
    })
    .openapi(introspect, async (c) => {
      const { userId } = c.var.principal
      const stored = await host.toolkits.find(userId, c.req.valid('param').id)
      if (c.req.valid('query').reconnect === 'true') await host.connections.reset(stored.uscoId, userId)
      return c.json(await viewAfterDiscovery(userId, stored), 200)
    })
    .openapi(output, async (c) => {
      const { principal } = c.var
      const stored = await host.toolkits.find(principal.userId, c.req.valid('param').id)
      if (stored.tier === 'app') assertOperator(principal)
      return c.json(outputOf(host, stored, principal.userId), 200)
    })
    .openapi(accept, async (c) => {
      const { userId } = c.var.principal
      const stored = await host.toolkits.find(userId, c.req.valid('param').id)
      if (stored.tier === 'app' && !(await host.catalog.isPersonal(stored, userId))) assertOperator(c.var.principal)
      const accepted = c.req.valid('json')
      await host.catalog.accept(stored, 'tool' in accepted ? { userId, ...accepted } : { userId })
      return c.json(await host.views.one(userId, stored.uscoId), 200)
    })
}

function outputOf(host: HostServices, stored: StoredToolkit, userId: string): z.infer<typeof serverOutput> {
  const own = host.connections.outputOf(stored, userId)
  // Discovery of an app toolkit uses a connection of its own.
  const { running, lines } = own.lines.length > 0 ? own : host.connections.outputOf(stored, stored.userId)
  return { running, items: lines.map((entry) => ('at' in entry ? { ...entry, at: entry.at.toISOString() } : entry)) }
}

const MAX_SWITCHES = 1000
const switchesSchema = z.object({
  switches: z
    .record(z.string().min(1).max(256), z.boolean())
    .refine((value) => Object.keys(value).length <= MAX_SWITCHES, `must be at most ${MAX_SWITCHES}`)
    .optional(),
})

const NOT_SERVER = new Set([
  'name',
  'enabled',
  'overrides',
  'deferLoading',
  'allowedCallers',
  'include',
  'exclude',
  'account',
])
const touchesServer = (changes: Record<string, unknown>) =>
  Object.keys(changes).some((field) => !NOT_SERVER.has(field)) || changes.enabled === true

async function switchGlobal(
  host: HostServices,
  { userId, id, changes }: { userId: string; id: string; changes: Record<string, unknown> },
) {
  const other = Object.keys(changes).find((field) => field !== 'enabled')
  if (other !== undefined || typeof changes.enabled !== 'boolean')
    throw new HostError('read-only', {
      detail: `"${id}" is a global toolkit; only your own switches for it and its tools can be changed.`,
      errors: [
        {
          path: other ?? 'enabled',
          message: other ? 'cannot be changed on a global toolkit' : 'must be true or false',
        },
      ],
    })
  await host.toolkits.setEnabled(userId, id, changes.enabled)
}
