import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { CallOutcome, Host } from 'loadout'
import { idParam, idText, json, jsonBodyOf } from '../openapi.ts'
import { problemResponses } from '../problem.ts'
import type { Env } from '../variables.ts'

const block = z.record(z.string(), z.unknown())
const done = z
  .object({
    callId: z.string(),
    status: z.enum(['ok', 'tool-error']),
    content: z.array(block),
    structuredContent: z.unknown().optional(),
  })
  .openapi('CallResult')
const input = z.object({ id: z.string(), toolkit: z.string(), question: block }).openapi('Input')
const waiting = z
  .object({ callId: z.string(), status: z.enum(['running', 'input-needed']), input: input.optional() })
  .openapi('CallWaiting')

const call = createRoute({
  method: 'post',
  path: '/tools/{toolkit}/{tool}/call',
  summary: 'Call one tool',
  request: {
    params: z.object({ toolkit: idText, tool: idText }),
    body: jsonBodyOf(
      z.strictObject({
        arguments: z.record(z.string(), z.unknown()).default({}),
        threadId: idText.optional(),
        wait: z.boolean().default(true),
      }),
    ),
  },
  responses: { 200: json(done, 'What the tool gave'), 202: json(waiting, 'It goes on behind'), ...problemResponses },
})
const show = createRoute({
  method: 'get',
  path: '/calls/{id}',
  summary: "A call's outcome, or that it is still on its way",
  request: { params: idParam },
  responses: { 200: json(done, 'What the tool gave'), 202: json(waiting, 'It is on its way'), ...problemResponses },
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

export function callRoutes(host: Host) {
  return new OpenAPIHono<Env>()
    .openapi(call, async (c) => {
      const { userId } = c.var.principal
      const { toolkit, tool } = c.req.valid('param')
      const { arguments: args, threadId, wait } = c.req.valid('json')
      if (threadId !== undefined) await host.threads.get(userId, threadId)
      const { trace } = c.var
      const request = { userId, toolkit, tool, arguments: args, threadId, trace, caller: { type: 'direct' as const } }
      // Somebody who goes away while waiting has cancelled; who does not wait has not.
      const running = host.calls.start({ ...request, ...(wait ? { signal: c.req.raw.signal } : {}) })
      const { callId } = running
      if (!wait) return c.json({ callId, status: 'running' as const }, 202)
      const first = await Promise.race([running.outcome, running.asked])
      if ('question' in first) return c.json({ callId, status: 'input-needed' as const, input: viewInput(first) }, 202)
      return c.json({ callId, ...resultOf(first) }, 200)
    })
    .openapi(show, async (c) => {
      const callId = c.req.valid('param').id
      const state = host.calls.get(c.var.principal.userId, callId)
      if (state.status === 'done') return c.json({ callId, ...resultOf(state.outcome) }, 200)
      if (state.input) return c.json({ callId, status: 'input-needed' as const, input: viewInput(state.input) }, 202)
      return c.json({ callId, status: 'running' as const }, 202)
    })
    .openapi(listInputs, async (c) => c.json({ items: host.inputs.list(c.var.principal.userId).map(viewInput) }, 200))
    .openapi(answerInput, async (c) => {
      const { action, content } = c.req.valid('json')
      const answer = action === 'accept' ? { action, ...(content === undefined ? {} : { content }) } : { action }
      host.inputs.answer(c.var.principal.userId, c.req.valid('param').id, answer)
      return c.body(null, 204)
    })
}

function resultOf(outcome: CallOutcome) {
  if ('error' in outcome) throw outcome.error
  const { status, content, structuredContent } = outcome
  return { status, content, ...(structuredContent === undefined ? {} : { structuredContent }) }
}

const viewInput = ({ id, toolkit, question }: { id: string; toolkit: string; question: object }) => ({
  id,
  toolkit,
  question: { ...question },
})
