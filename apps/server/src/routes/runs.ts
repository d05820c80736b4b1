/** Routes of programs and runs. Runs of other users give 404. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { programInput, runView } from '@loadout/core/schema'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { idParam, idText, json, jsonBodyOf, named } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'
import { streamStarted } from '../http/run-stream.ts'

const run = named(runView, 'Run')
const responses = { 200: json(run, 'The run'), ...problemResponses }
const stepParam = z.object({ id: idText, step: idText })

const start = createRoute({
  method: 'post',
  path: '/threads/{id}/run',
  summary: 'Run a program in which the tools of the thread are functions',
  request: {
    params: idParam,
    body: jsonBodyOf(
      programInput.extend({
        wait: z.boolean().default(true).meta({ description: 'Until it is over, or waits for a person' }),
      }),
    ),
  },
  responses: { 200: json(run, 'It is over'), 202: json(run, 'It goes on, or waits for a person'), ...problemResponses },
})
const page = z.object({
  cursor: idText.optional(),
  threadId: idText.optional(),
  workflowId: idText.optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
})
const list = createRoute({
  method: 'get',
  path: '/runs',
  summary: "The caller's runs, the newest first, without their steps",
  request: { query: page },
  responses: {
    200: json(z.object({ items: z.array(run), nextCursor: z.string().optional() }), 'A page of them'),
    ...problemResponses,
  },
})
const show = createRoute({
  method: 'get',
  path: '/runs/{id}',
  summary: 'One run: its steps, its log, and what it waits for; with `Accept: text/event-stream` its nodes as they go',
  request: { params: idParam },
  responses,
})
const cancel = createRoute({
  method: 'post',
  path: '/runs/{id}/cancel',
  summary: 'End it, down to the servers that it calls',
  request: { params: idParam },
  responses,
})
const decide = createRoute({
  method: 'post',
  path: '/runs/{id}/steps/{step}',
  summary: 'Where nobody knows what came of a step: do it again, or take it for failed',
  request: { params: stepParam, body: jsonBodyOf(z.strictObject({ decision: z.enum(['repeat', 'fail']) })) },
  responses,
})

const OVER = new Set(['completed', 'failed', 'cancelled'])

export function runRoutes(host: HostServices) {
  return new OpenAPIHono<Env>()
    .openapi(start, async (c) => {
      const { userId } = c.var.principal
      const { id } = c.req.valid('param')
      await host.threads.get(userId, id)
      const { wait, ...program } = c.req.valid('json')
      const thread = host.thread({ userId, threadId: id }, { mustExist: true })
      const found = await thread.run(program, { wait, signal: c.req.raw.signal })
      return OVER.has(found.status) ? c.json(found, 200) : c.json(found, 202)
    })
    .openapi(list, async (c) => {
      const { limit, ...query } = c.req.valid('query')
      // One extra row shows whether there is a next page.
      const found = await host.runs.list(c.var.principal.userId, { ...query, limit: limit + 1 })
      const items = found.slice(0, limit)
      const last = found.length > limit ? items.at(-1) : undefined
      return c.json({ items, ...(last ? { nextCursor: last.id } : {}) }, 200)
    })
    .openapi(show, async (c) => {
      if (c.req.header('accept')?.includes('text/event-stream'))
        return (await streamStarted(c, host, { runId: c.req.valid('param').id, tell: (view) => view })) as never
      return c.json(await host.runs.get(c.var.principal.userId, c.req.valid('param').id), 200)
    })
    .openapi(cancel, async (c) => {
      return c.json(await host.runs.cancel(c.var.principal.userId, c.req.valid('param').id), 200)
    })
    .openapi(decide, async (c) => {
      const { id, step } = c.req.valid('param')
      const { decision } = c.req.valid('json')
      return c.json(await host.runs.resolve(c.var.principal.userId, id, { stepId: step, decision }), 200)
    })
}
