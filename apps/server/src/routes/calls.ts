/** Call routes: waiting, streaming or in the background. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { policyRules } from '@loadout/core/schema'
import type { CallRequest, HostServices } from '@loadout/core/services'
import type { MiddlewareHandler } from 'hono'
import { z } from 'zod'
import {
  block,
  done,
  fromRecord,
  input,
  isPending,
  pendingCall,
  readCall,
  respond,
  settled,
  settledLater,
  viewInput,
} from '../http/call-responses.ts'
import { streamCall } from '../http/call-stream.ts'
import type { Env } from '../http/env.ts'
import { idParam, idText, json, jsonBodyOf, named } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

const call = createRoute({
  method: 'post',
  path: '/tools/{toolkit}/{tool}/call',
  summary: 'Call one tool; with `Accept: text/event-stream` its progress is streamed',
  request: {
    params: z.object({ toolkit: idText, tool: idText }),
    headers: z.object({
      'idempotency-key': z
        .string()
        .min(1)
        .max(255)
        .optional()
        .meta({ description: 'The same key is the same call: it is made once' }),
    }),
    body: jsonBodyOf(
      z.strictObject({
        arguments: z.record(z.string(), z.unknown()).default({}),
        threadId: idText.optional(),
        prompt: z
          .string()
          .max(20_000)
          .optional()
          .meta({ description: 'What the user asked for: it helps later searches of theirs' }),
        wait: z.boolean().default(true),
        rules: named(policyRules, 'PolicyRules')
          .optional()
          .meta({ description: 'Rules of this call alone; they only tighten' }),
      }),
    ),
  },
  responses: {
    200: json(done, 'What the tool gave'),
    202: json(pendingCall, 'It goes on behind'),
    ...problemResponses,
  },
})
const show = createRoute({
  method: 'get',
  path: '/calls/{id}',
  summary: "A call's outcome, or that it is still on its way",
  request: { params: idParam },
  responses: { 200: json(done, 'What the tool gave'), 202: json(pendingCall, 'It is on its way'), ...problemResponses },
})
const cancel = createRoute({
  method: 'post',
  path: '/calls/{id}/cancel',
  summary: 'Give up a call that goes on behind, down to its server; 409 where it is over',
  request: { params: idParam },
  responses: { 204: { description: 'It is given up; `GET /api/calls/{id}` says so' }, ...problemResponses },
})
const listInputs = createRoute({
  method: 'get',
  path: '/inputs',
  summary: 'What servers ask of the caller',
  responses: { 200: json(z.object({ items: z.array(input) }), 'Open questions'), ...problemResponses },
})
const answerInput = createRoute({
  method: 'post',
  path: '/inputs/{id}',
  summary: 'Answer a question of a server',
  request: {
    params: idParam,
    body: jsonBodyOf(z.strictObject({ action: z.enum(['accept', 'decline', 'cancel']), content: block.optional() })),
  },
  responses: { 204: { description: 'Told' }, ...problemResponses },
})
const part = z.object({
  offset: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(100_000).optional(),
  fromLine: z.coerce.number().int().min(1).optional(),
  lines: z.coerce.number().int().min(1).max(2000).optional(),
  path: z.string().max(1000).optional(),
})
const readResult = createRoute({
  method: 'get',
  path: '/results/{id}',
  summary: 'More of a result that was too large: by page, by line, or by a path into its JSON',
  request: { params: idParam, query: part },
  responses: {
    200: json(
      z
        .object({
          text: z.string(),
          characters: z.number(),
          lines: z.number(),
          nextOffset: z.number().optional(),
          nextLine: z.number().optional(),
        })
        .meta({ id: 'ResultPart' }),
      'A part of it',
    ),
    ...problemResponses,
  },
})

/** Adds the call id to problem documents, so that the call can be read later. */
const withCallId: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  const { callId } = c.var
  if (callId === undefined || !c.res.headers.get('content-type')?.startsWith('application/problem+json')) return
  const body = JSON.stringify({ ...(await c.res.json()), callId })
  c.res = new Response(body, { status: c.res.status, headers: c.res.headers })
}

export function callRoutes(host: HostServices) {
  const app = new OpenAPIHono<Env>()
  app.use('/tools/:toolkit/:tool/call', withCallId)
  app.use('/calls/:id', withCallId)
  return app
    .openapi(call, async (c) => {
      const { userId } = c.var.principal
      const { toolkit, tool } = c.req.valid('param')
      const { arguments: args, threadId, wait, rules, prompt } = c.req.valid('json')
      if (threadId !== undefined) await host.threads.get(userId, threadId)
      const { trace } = c.var
      const caller = { type: 'direct' as const }
      const target = { userId, toolkit, tool, arguments: args, threadId, prompt }
      const request: CallRequest = { ...target, trace, caller, rules }
      const idempotencyKey = c.req.valid('header')['idempotency-key']
      if (c.req.header('accept')?.includes('text/event-stream'))
        return (await streamCall(c, host, { request, idempotencyKey, wait })) as never
      const { signal } = c.req.raw
      if (!wait || idempotencyKey !== undefined) {
        const recorded = await host.records.start(request, { idempotencyKey })
        const { callId } = recorded
        c.set('callId', callId)
        if ('row' in recorded)
          return respond(
            c,
            wait ? await settledLater(host, recorded.row, signal) : await fromRecord(host, recorded.row),
          )
        return respond(c, wait ? await settled(recorded.running) : { callId, status: 'running' as const })
      }
      // Closing the request cancels the call.
      const { running, persist } = host.records.startWaited({ ...request, signal })
      c.set('callId', running.callId)
      const answer = await settled(running)
      if (isPending(answer)) await persist()
      return respond(c, answer)
    })
    .openapi(show, async (c) => {
      const { id } = c.req.valid('param')
      c.set('callId', id)
      return respond(c, await readCall(host, c.var.principal.userId, id))
    })
    .openapi(cancel, async (c) => {
      await host.records.cancel(c.var.principal.userId, c.req.valid('param').id)
      return c.body(null, 204)
    })
    .openapi(listInputs, async (c) => c.json({ items: host.inputs.list(c.var.principal.userId).map(viewInput) }, 200))
    .openapi(answerInput, async (c) => {
      const { action, content } = c.req.valid('json')
      const answer = action === 'accept' ? { action, ...(content === undefined ? {} : { content }) } : { action }
      host.inputs.answer(c.var.principal.userId, c.req.valid('param').id, answer)
      return c.body(null, 204)
    })
    .openapi(readResult, async (c) => {
      const { id } = c.req.valid('param')
      return c.json(await host.results.read(c.var.principal.userId, id, c.req.valid('query')), 200)
    })
}
