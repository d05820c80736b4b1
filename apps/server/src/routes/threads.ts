/** Thread routes: threads, activations and loadouts. Threads of other users give 404. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import {
  activationRef,
  loadoutEntry,
  reason as reasonSchema,
  threadInput,
  threadPatch,
  threadSettings,
  tier as tierSchema,
} from '@loadout/core/schema'
import type { HostServices, Narrowing, StoredThread, Thread } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { idParam, idText, json, jsonBodyOf, named } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

const activation = z.object({ ref: z.string(), on: z.boolean() }).meta({ id: 'Activation' })
const thread = z
  .object({
    id: z.string(),
    title: z.string(),
    settings: threadSettings,
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Thread' })
const reason = named(reasonSchema, 'Reason')
const tool = loadoutEntry.extend({ reasons: z.array(reason) }).meta({ id: 'LoadoutTool' })
const loadout = z
  .object({
    tools: z.array(tool),
    toolkits: z.array(
      z.object({
        id: z.string(),
        tier: tierSchema,
        uscoId: z.string().optional(),
        active: z.boolean(),
        toolCount: z.number(),
        reasons: z.array(reason),
      }),
    ),
    droppedToolkits: z.array(z.string()),
    tokens: z.number(),
  })
  .meta({ id: 'Loadout' })
const explained = z
  .object({
    items: z.array(
      z.object({
        ref: z.string(),
        modelName: z.string(),
        tier: tierSchema,
        included: z.boolean(),
        reasons: z.array(reason),
      }),
    ),
  })
  .meta({ id: 'Explanation' })

const listed = z.object({
  items: z.array(activation),
  /** Whether only refs that are turned on here are available. */
  exclusive: z.boolean(),
  /** Names the servers that exceed the limit. */
  warnings: z.array(z.string()).optional(),
})
// A comma inside braces belongs to a glob.
const refs = z.string().transform((text) => text.split(/,(?![^{}]*\})/).map((ref) => ref.trim()))
const count = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
const narrowing = z.object({
  only: refs.pipe(z.array(activationRef)).optional().meta({ type: 'string', description: 'Refs, divided by commas' }),
  except: refs.pipe(z.array(activationRef)).optional().meta({ type: 'string', description: 'Refs, divided by commas' }),
  maxTools: count.optional(),
  maxTokens: count.optional(),
})

const create = createRoute({
  method: 'post',
  path: '/threads',
  summary: 'Begin a thread',
  request: { body: { ...jsonBodyOf(threadInput), required: false } },
  responses: { 201: json(thread, 'It'), ...problemResponses },
})
const page = z.object({
  cursor: idText.optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})
const list = createRoute({
  method: 'get',
  path: '/threads',
  summary: "The caller's threads, by id, the last first",
  request: { query: page },
  responses: {
    200: json(z.object({ items: z.array(thread), nextCursor: z.string().optional() }), 'A page of them'),
    ...problemResponses,
  },
})
const show = createRoute({
  method: 'get',
  path: '/threads/{id}',
  summary: 'One thread',
  request: { params: idParam },
  responses: { 200: json(thread, 'It'), ...problemResponses },
})
const change = createRoute({
  method: 'patch',
  path: '/threads/{id}',
  summary: 'Rename it, or set its limits',
  request: { params: idParam, body: jsonBodyOf(threadPatch) },
  responses: { 200: json(thread, 'Changed'), ...problemResponses },
})
const remove = createRoute({
  method: 'delete',
  path: '/threads/{id}',
  summary: 'Delete it with what it switched',
  request: { params: idParam },
  responses: { 204: { description: 'Deleted' }, ...problemResponses },
})

const activationPath = {
  path: '/threads/{id}/activations',
  responses: { 200: json(listed, 'As they are now'), ...problemResponses },
} as const
const showActivations = createRoute({
  method: 'get',
  ...activationPath,
  summary: 'What the thread itself switched',
  request: { params: idParam },
})
const useList = createRoute({
  method: 'put',
  ...activationPath,
  summary: 'These toolkits (or tools, or globs) and no others',
  request: { params: idParam, body: jsonBodyOf(z.strictObject({ toolkits: z.array(activationRef).max(1000) })) },
})
const activate = createRoute({
  method: 'post',
  ...activationPath,
  summary: 'Switch one toolkit, tool or glob on or off',
  request: { params: idParam, body: jsonBodyOf(z.strictObject({ ref: activationRef, on: z.boolean() })) },
})
const reset = createRoute({
  method: 'delete',
  ...activationPath,
  summary: 'Forget what the thread switched: of one ref, or all',
  request: { params: idParam, query: z.object({ ref: z.string().max(400).optional() }) },
})
const showLoadout = createRoute({
  method: 'get',
  path: '/threads/{id}/loadout',
  summary: 'The tools that the thread carries; a call may narrow them',
  request: { params: idParam, query: narrowing },
  responses: { 200: json(loadout, 'Them'), ...problemResponses },
})
const explain = createRoute({
  method: 'get',
  path: '/threads/{id}/explain',
  summary: 'For every tool, why the thread carries it or not; with a prompt, how well it fits that',
  request: { params: idParam, query: narrowing.extend({ prompt: z.string().max(10_000).optional() }) },
  responses: { 200: json(explained, 'All of them'), ...problemResponses },
})

export function threadRoutes(host: HostServices) {
  /** Returns a thread of the caller, or 404. */
  const own = async (userId: string, id: string): Promise<Thread> => {
    await host.threads.get(userId, id)
    return host.thread({ userId, threadId: id }, { mustExist: true })
  }
  const activationState = async (userThread: Thread) => {
    const warnings = await userThread.warnings()
    return {
      items: [...(await userThread.activations())],
      exclusive: await userThread.isExclusive(),
      ...(warnings.length > 0 ? { warnings } : {}),
    }
  }

  const threads = new OpenAPIHono<Env>()
    .openapi(create, async (c) => {
      return c.json(view(await host.threads.create(c.var.principal.userId, c.req.valid('json'))), 201)
    })
    .openapi(list, async (c) => {
      const { cursor, limit } = c.req.valid('query')
      // One extra row shows whether there is a next page.
      const found = await host.threads.list(c.var.principal.userId, { after: cursor, limit: limit + 1 })
      const items = found.slice(0, limit).map(view)
      const last = found.length > limit ? items.at(-1) : undefined
      return c.json({ items, ...(last ? { nextCursor: last.id } : {}) }, 200)
    })
    .openapi(show, async (c) => {
      return c.json(view(await host.threads.get(c.var.principal.userId, c.req.valid('param').id)), 200)
    })
    .openapi(change, async (c) => {
      const { id } = c.req.valid('param')
      return c.json(view(await host.threads.update(c.var.principal.userId, id, c.req.valid('json'))), 200)
    })
    .openapi(remove, async (c) => {
      await host.threads.delete(c.var.principal.userId, c.req.valid('param').id)
      return c.body(null, 204)
    })
  return threads
    .openapi(showActivations, async (c) => {
      return c.json(await activationState(await own(c.var.principal.userId, c.req.valid('param').id)), 200)
    })
    .openapi(useList, async (c) => {
      const userThread = await own(c.var.principal.userId, c.req.valid('param').id)
      await userThread.use(c.req.valid('json').toolkits)
      return c.json(await activationState(userThread), 200)
    })
    .openapi(activate, async (c) => {
      const userThread = await own(c.var.principal.userId, c.req.valid('param').id)
      const { ref, on } = c.req.valid('json')
      await (on ? userThread.activate(ref) : userThread.deactivate(ref))
      return c.json(await activationState(userThread), 200)
    })
    .openapi(reset, async (c) => {
      const userThread = await own(c.var.principal.userId, c.req.valid('param').id)
      await userThread.reset(c.req.valid('query').ref)
      return c.json(await activationState(userThread), 200)
    })
    .openapi(showLoadout, async (c) => {
      const userThread = await own(c.var.principal.userId, c.req.valid('param').id)
      const { entries: _, ...body } = await userThread.loadout(c.req.valid('query') as Narrowing)
      return c.json(body, 200)
    })
    .openapi(explain, async (c) => {
      const userThread = await own(c.var.principal.userId, c.req.valid('param').id)
      return c.json({ items: await userThread.explain(c.req.valid('query') as Narrowing & { prompt?: string }) }, 200)
    })
}

const view = ({ createdAt, updatedAt, ...rest }: StoredThread) => ({
  ...rest,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})
