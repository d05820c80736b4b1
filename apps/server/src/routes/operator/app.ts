/** App routes, for operators only. Toolkits from files or code are read-only here too. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import { appConfig, appConfigPatch, type OfferedTemplate, toolkitView } from '@loadout/core/schema'
import { APP_OWNER, type HostServices, type StoredToolkit } from '@loadout/core/services'
import type { Context, MiddlewareHandler } from 'hono'
import { z } from 'zod'
import type { Env } from '../../http/env.ts'
import { changedAt, etagOf, ifMatch } from '../../http/etag.ts'
import { assertOperator } from '../../http/middleware.ts'
import { idParam, json, jsonBodyOf, named } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'
import { withWarnings } from '../../http/with-warnings.ts'

const toolkit = toolkitView.extend({ source: z.string().optional() }).meta({ id: 'AppToolkit' })
const problem = z
  .object({ source: z.string(), entry: z.string().optional(), line: z.number().optional(), message: z.string() })
  .meta({ id: 'SourceProblem' })
const record = z.record(z.string(), z.unknown())

const list = createRoute({
  method: 'get',
  path: '/app/toolkits',
  summary: "The app's toolkits, and what is wrong with the files that define some",
  responses: {
    200: json(
      z.object({
        items: z.array(toolkit),
        toolkits: z.array(toolkit).meta({ description: 'The same as `items`' }),
        problems: z.array(problem),
      }),
      'All of them',
    ),
    ...problemResponses,
  },
})
const save = createRoute({
  method: 'post',
  path: '/app/toolkits',
  summary: 'Add one for all users, or update the one with the same id or name',
  request: { body: jsonBodyOf(record) },
  responses: { 200: json(toolkit, 'Updated'), 201: json(toolkit, 'Added'), ...problemResponses },
})
const show = createRoute({
  method: 'get',
  path: '/app/toolkits/{id}',
  summary: 'One of them; its `ETag` says when it was changed',
  request: { params: idParam },
  responses: { 200: json(toolkit, 'It'), ...problemResponses },
})
const change = createRoute({
  method: 'patch',
  path: '/app/toolkits/{id}',
  summary: 'Change one',
  request: { params: idParam, body: jsonBodyOf(record) },
  parameters: [ifMatch],
  responses: { 200: json(toolkit, 'Changed'), ...problemResponses },
})
const remove = createRoute({
  method: 'delete',
  path: '/app/toolkits/{id}',
  summary: 'Delete one with its tools and credentials',
  request: { params: idParam },
  responses: { 204: { description: 'Deleted' }, ...problemResponses },
})
const config = named(appConfig, 'AppConfig')
const showConfig = createRoute({
  method: 'get',
  path: '/app/config',
  summary: 'What holds for everyone',
  responses: { 200: json(config, 'It'), ...problemResponses },
})
const changeConfig = createRoute({
  method: 'patch',
  path: '/app/config',
  summary: 'Change some of it',
  request: { body: jsonBodyOf(appConfigPatch) },
  responses: { 200: json(config, 'As it is now'), ...problemResponses },
})

/** Start settings: read-only here, set in the environment. */
const startSettings = z
  .object({
    mode: z.enum(['local', 'multi-user']).optional(),
    storage: z.string().meta({ description: 'What keeps the data' }),
    stdio: z
      .enum(['off', 'templates', 'sandbox', 'on'])
      .optional()
      .meta({ description: 'Which commands users may bring: none, prepared ones, any in a sandbox, any' }),
    templates: z.array(z.object({ id: z.string(), command: z.string(), args: z.array(z.string()) })),
    privateNetwork: z.boolean().optional().meta({ description: 'Whether servers in the private network are reached' }),
    privateHosts: z.array(z.string()).meta({ description: 'Reached although they are private' }),
    programs: z.string().optional().meta({ description: 'What is around programs; `off` runs none' }),
    approvalMs: z.number().optional().meta({ description: 'How long a question to a user stays open' }),
    model: z.string().optional().meta({ description: 'The model where none is named' }),
    models: z.array(z.string()).meta({ description: 'What the keys of the app are for beside it, with globs' }),
    ceiling: z
      .object({ maxSteps: z.number().optional(), budget: z.number().optional() })
      .meta({ description: 'What one answer may take; what operators store can only tighten it' }),
  })
  .meta({ id: 'StartSettings' })
export type StartSettings = Partial<Omit<z.infer<typeof startSettings>, 'storage'>> & {
  /** Templates as users see them. */
  offered?: readonly OfferedTemplate[] | undefined
}
const showSettings = createRoute({
  method: 'get',
  path: '/app/settings',
  summary: 'What the server was started with',
  responses: { 200: json(startSettings, 'It, without secrets'), ...problemResponses },
})

const operatorsOnly: MiddlewareHandler<Env> = async (c, next) => {
  assertOperator(c.var.principal)
  await next()
}

/** Changes to app-wide data record the operator in the audit log. */
const actorOf = (c: Context<Env>) => ({ actor: c.var.principal.userId })
const ownerOf = (c: Context<Env>) => ({ tier: 'app' as const, ...actorOf(c) })

export function appRoutes(host: HostServices, { offered: _, ...settings }: StartSettings = {}) {
  const viewOf = async (stored: StoredToolkit, warnings: string[] = []) => {
    const view = await host.views.asOperator(stored)
    return withWarnings(view, warnings)
  }
  const viewAfterDiscovery = async (stored: StoredToolkit, warnings: string[]) => {
    // A discovery failure is part of the view's state; the record stays saved.
    if (stored.enabled) await host.catalog.introspect(stored, APP_OWNER).catch(() => {})
    const now = (await host.toolkits.app()).find((item) => item.uscoId === stored.uscoId) ?? stored
    return viewOf(now, warnings)
  }

  const app = new OpenAPIHono<Env>()
  app.use('/app/*', operatorsOnly)
  return app
    .openapi(list, async (c) => {
      const toolkits = await Promise.all((await host.toolkits.app()).map((stored) => viewOf(stored)))
      return c.json({ items: toolkits, toolkits, problems: [...host.sources.problems()] }, 200)
    })
    .openapi(save, async (c) => {
      const { stored, created, warnings } = await host.toolkits.register(c.req.valid('json'), ownerOf(c))
      return c.json(await viewAfterDiscovery(stored, warnings), created ? 201 : 200)
    })
    .openapi(show, async (c) => {
      const { id } = c.req.valid('param')
      const stored = (await host.toolkits.app()).find(({ uscoId, toolkit }) => uscoId === id || toolkit.id === id)
      if (!stored) throw new HostError('not-found', { detail: `There is no toolkit "${id}" of the app.` })
      c.header('etag', etagOf(stored.row))
      return c.json(await viewOf(stored), 200)
    })
    .openapi(change, async (c) => {
      const target = { id: c.req.valid('param').id, unchangedSince: changedAt(c.req.header('if-match')) }
      const { stored, warnings } = await host.toolkits.update(target, c.req.valid('json'), ownerOf(c))
      return c.json(await viewAfterDiscovery(stored, warnings), 200)
    })
    .openapi(remove, async (c) => {
      await host.toolkits.remove(c.req.valid('param').id, ownerOf(c))
      return c.body(null, 204)
    })
    .openapi(showSettings, (c) =>
      c.json(
        { templates: [], privateHosts: [], models: [], ceiling: {}, ...settings, storage: host.storage.name },
        200,
      ),
    )
    .openapi(showConfig, async (c) => c.json(await host.app.get(), 200))
    .openapi(changeConfig, async (c) => c.json(await host.app.update(c.req.valid('json'), actorOf(c)), 200))
}
