/** Calls: waited for, followed as a stream, or left to go on behind and asked for later. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { type CallOutcome, type CallRequest, type CallRow, type Host, HostError, type RunningCall } from 'loadout'
import { approvalView } from 'loadout/schema'
import { idParam, idText, json, jsonBodyOf, named } from '../openapi.ts'
import { problemResponses } from '../problem.ts'
import type { Env } from '../variables.ts'

const block = z.record(z.string(), z.unknown())
const done = z
  .object({
    callId: z.string(),
    status: z.enum(['ok', 'tool-error']),
    content: z.array(block),
    structuredContent: z.unknown().optional(),
    resultHandle: z.string().optional(),
  })
  .openapi('CallResult')
const input = z.object({ id: z.string(), toolkit: z.string(), question: block }).openapi('Input')
const waiting = z
  .object({
    callId: z.string(),
    status: z.enum(['running', 'input-needed', 'pending']),
    input: input.optional(),
    approval: named(approvalView, 'Approval').optional(),
  })
  .openapi('CallWaiting')

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
        .openapi({ description: 'The same key is the same call: it is made once' }),
    }),
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
        .openapi('ResultPart'),
      'A part of it',
    ),
    ...problemResponses,
  },
})

export function callRoutes(host: Host) {
  return new OpenAPIHono<Env>()
    .openapi(call, async (c) => {
      const { userId } = c.var.principal
      const { toolkit, tool } = c.req.valid('param')
      const { arguments: args, threadId, wait } = c.req.valid('json')
      if (threadId !== undefined) await host.threads.get(userId, threadId)
      const { trace } = c.var
      const caller = { type: 'direct' as const }
      const request: CallRequest = { userId, toolkit, tool, arguments: args, threadId, trace, caller }
      const idempotencyKey = c.req.valid('header')['idempotency-key']
      if (!wait || idempotencyKey !== undefined) {
        const recorded = await host.records.start(request, { idempotencyKey })
        const { callId } = recorded
        if ('row' in recorded) return respond(c, fromRow(recorded.row))
        return respond(c, wait ? await settled(recorded.running) : { callId, status: 'running' as const })
      }
      if (c.req.header('accept')?.includes('text/event-stream')) return follow(c, host, request) as never
      // Somebody who goes away while waiting has cancelled.
      const running = host.calls.start({ ...request, signal: c.req.raw.signal })
      const answer = await settled(running)
      if (isWaiting(answer)) await host.records.adopt(request, running)
      return respond(c, answer)
    })
    .openapi(show, async (c) => {
      const { userId } = c.var.principal
      const callId = c.req.valid('param').id
      const state = stateOf(host, userId, callId)
      return respond(c, state ?? fromRow(await host.records.get(userId, callId)))
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

type Done = z.infer<typeof done>
type Waiting = z.infer<typeof waiting>
type Answer = Done | Waiting

const isWaiting = (answer: Answer): answer is Waiting => !('content' in answer)

function respond(c: Context<Env>, answer: Answer) {
  return isWaiting(answer) ? c.json(answer, 202) : c.json(answer, 200)
}

/** The outcome, or what has to happen first. */
async function settled(running: RunningCall): Promise<Answer> {
  const { callId } = running
  const first = await Promise.race([running.outcome, running.asked, running.pending])
  if ('question' in first) return { callId, status: 'input-needed', input: viewInput(first) }
  if ('expiresAt' in first) return { callId, status: 'pending', approval: first }
  return { callId, ...resultOf(first) }
}

/** As this process knows it, where it is the one that runs it. */
function stateOf(host: Host, userId: string, callId: string): Answer | undefined {
  try {
    const state = host.calls.get(userId, callId)
    if (state.status === 'done') return { callId, ...resultOf(state.outcome) }
    if (state.input) return { callId, status: 'input-needed', input: viewInput(state.input) }
    if (state.approval) return { callId, status: 'pending', approval: state.approval }
    return { callId, status: 'running' }
  } catch (error) {
    if (HostError.is(error) && error.code === 'not-found') return undefined
    throw error
  }
}

/** As it is stored, by whichever process. */
function fromRow({ callId, status, outcomeJson }: CallRow): Answer {
  if (!outcomeJson) return { callId, status: status === 'pending' ? 'pending' : 'running' }
  const { error, ...rest } = outcomeJson as { error?: { code: HostError['code']; detail: string; action: string } }
  if (error) throw new HostError(error.code, { detail: error.detail, action: error.action })
  return { callId, ...(rest as Omit<Done, 'callId'>) }
}

/** Progress, questions and the outcome, one event each; the stream ends with the call. */
function follow(c: Context<Env>, host: Host, request: CallRequest) {
  return streamSSE(c, async (stream) => {
    const send = (event: string, data: object) => stream.writeSSE({ event, data: JSON.stringify(data) }).catch(() => {})
    const gone = new AbortController()
    stream.onAbort(() => gone.abort())
    const onProgress = (progress: object) => void send('progress', progress)
    const running = host.calls.start({ ...request, signal: gone.signal, onProgress })
    const { callId } = running
    await send('started', { callId })
    void running.asked.then((asked) => send('input-needed', { callId, input: viewInput(asked) }))
    void running.pending.then((approval) => send('pending', { callId, approval }))
    const outcome = await running.outcome
    if ('error' in outcome) {
      const { code, message: detail, action } = outcome.error
      await send('failed', { callId, status: outcome.status, code, detail, action })
    } else await send('result', { callId, ...resultOf(outcome) })
  })
}

function resultOf(outcome: CallOutcome) {
  if ('error' in outcome) throw outcome.error
  const { status, content, structuredContent, resultHandle } = outcome
  return {
    status,
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(resultHandle === undefined ? {} : { resultHandle }),
  }
}

const viewInput = ({ id, toolkit, question }: { id: string; toolkit: string; question: object }) => ({
  id,
  toolkit,
  question: { ...question },
})
