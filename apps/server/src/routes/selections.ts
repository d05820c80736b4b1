/** Tool selection and loaded tools of a thread. Threads of other users give 404. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { Selection } from '@loadout/core'
import { activationRef, resolveInput, selection as selectionSchema, toolManifest } from '@loadout/core/schema'
import type { HostServices, SelectedTool, Thread } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { idParam, json, jsonBodyOf } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

const { tools, deferred, userId: _, ...selectionFields } = selectionSchema.shape
const { by, score, reasons, tokens } = tools.element.shape
const selected = z
  .object({
    ref: z.string(),
    modelName: z.string(),
    toolkit: z.string(),
    ...toolManifest.pick({ name: true, title: true, description: true, inputSchema: true, annotations: true }).shape,
    by,
    score,
    reasons,
    tokens,
  })
  .meta({ id: 'SelectedTool' })
const selection = z
  .object({
    ...selectionFields,
    tools: z.array(selected),
    /** How many more tools can be found. */
    deferred: z.number(),
  })
  .meta({ id: 'Selection' })
const loaded = z
  .object({ items: z.array(z.object({ ref: z.string(), sticky: z.boolean() })) })
  .meta({ id: 'LoadedTools' })

const narrow = z
  .strictObject({
    only: z.array(activationRef).max(1000),
    except: z.array(activationRef).max(1000),
    maxTools: z.number().int().min(0),
  })
  .partial()
const resolve = createRoute({
  method: 'post',
  path: '/threads/{id}/resolve',
  summary: 'The tools that a model needs with this prompt',
  request: { params: idParam, body: jsonBodyOf(resolveInput.safeExtend({ narrow: narrow.optional() })) },
  responses: { 200: json(selection, 'Them, with scores, reasons and what they cost'), ...problemResponses },
})
const refs = z.array(z.string().min(1).max(400)).min(1).max(100)
const loadedPath = {
  path: '/threads/{id}/loaded',
  responses: { 200: json(loaded, 'As they are now'), ...problemResponses },
} as const
const show = createRoute({
  method: 'get',
  ...loadedPath,
  summary: 'The tools that the thread has loaded',
  request: { params: idParam },
})
const load = createRoute({
  method: 'post',
  ...loadedPath,
  summary: 'Load tools for this and the following prompts',
  request: { params: idParam, body: jsonBodyOf(z.strictObject({ refs, sticky: z.boolean().optional() })) },
})
const unload = createRoute({
  method: 'delete',
  ...loadedPath,
  summary: 'Unload one tool, or all',
  // A misspelled parameter would otherwise unload all tools.
  request: { params: idParam, query: z.strictObject({ ref: z.string().min(1).max(400).optional() }) },
})

export function selectionRoutes(host: HostServices) {
  /** Returns a thread of the caller, or 404. */
  const own = async (userId: string, id: string): Promise<Thread> => {
    await host.threads.get(userId, id)
    return host.thread({ userId, threadId: id }, { mustExist: true })
  }
  const now = async (thread: Thread) => ({ items: [...(await thread.loaded())] })
  return new OpenAPIHono<Env>()
    .openapi(resolve, async (c) => {
      const thread = await own(c.var.principal.userId, c.req.valid('param').id)
      const { narrow: narrowing, ...options } = c.req.valid('json')
      return c.json(view(await thread.select({ ...options, ...(narrowing ? { narrow: narrowing } : {}) })), 200)
    })
    .openapi(show, async (c) => {
      return c.json(await now(await own(c.var.principal.userId, c.req.valid('param').id)), 200)
    })
    .openapi(load, async (c) => {
      const thread = await own(c.var.principal.userId, c.req.valid('param').id)
      const { refs: wanted, sticky } = c.req.valid('json')
      await thread.load(wanted, sticky === undefined ? {} : { sticky })
      return c.json(await now(thread), 200)
    })
    .openapi(unload, async (c) => {
      const thread = await own(c.var.principal.userId, c.req.valid('param').id)
      const { ref } = c.req.valid('query')
      await thread.unload(ref === undefined ? undefined : [ref])
      return c.json(await now(thread), 200)
    })
}

function view(selection: Selection) {
  const { tools: chosen, deferred: rest, threadId, stablePrefix, tokens: cost, strategy, warnings } = selection
  const { dropped, unavailable } = selection
  return {
    threadId,
    stablePrefix,
    dropped,
    unavailable,
    tokens: cost,
    strategy,
    warnings,
    tools: chosen.map(toolView),
    deferred: rest.length,
  }
}

function toolView({ entry, ...why }: SelectedTool) {
  const { ref, modelName, toolkit, manifest } = entry
  const { name, title, description, inputSchema, annotations } = manifest
  return {
    ref,
    modelName,
    toolkit,
    name,
    inputSchema,
    ...why,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(annotations === undefined ? {} : { annotations }),
  }
}
