/**
 * Chat routes of a thread. A response streams as AI SDK UI messages with data parts for selection, approvals and
 * usage; closing the stream cancels it. The stored history counts, whatever messages a client sends.
 */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import { type Models, modelName } from '@loadout/core/agents/models'
import { messageView, parse, resolveInput, stepLimit, tokenBudget, userMessage } from '@loadout/core/schema'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { idParam, idText, json, jsonBodyOf, named } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

const message = named(messageView, 'Message')
const { limit, maxTokens, programs } = resolveInput.shape
const input = z
  .looseObject({
    message: userMessage.optional().meta({ description: 'A text, or a message with parts' }),
    messages: z
      .array(z.unknown())
      .max(10_000)
      .optional()
      .meta({ description: "As the AI SDK's chat sends them: the last is what is said, the rest is known" }),
    trigger: z.string().max(100).optional().meta({
      description: "`regenerate-message`, as the AI SDK's chat sends it, asks for another answer instead of the last",
    }),
    messageId: idText.optional().meta({ description: 'What is asked for again: the last answer, or its question' }),
    model: modelName.optional().meta({ description: '`provider:model`; by default the operator’s' }),
    system: z.string().max(20_000).optional(),
    maxSteps: stepLimit.default(20),
    budget: tokenBudget.optional().meta({
      description: 'Tokens in all, of what the model is sent and of what it says; within what the operator allows',
    }),
    limit: limit.optional(),
    maxTokens,
    programs,
  })
  .meta({ id: 'ChatInput' })

const say = createRoute({
  method: 'post',
  path: '/threads/{id}/messages',
  summary: 'Say something; the answer streams',
  request: { params: idParam, body: jsonBodyOf(input) },
  responses: {
    200: {
      description: 'A stream of UI message chunks (AI SDK), with data parts `selection`, `approval` and `usage`',
      content: { 'text/event-stream': { schema: z.string() } },
    },
    ...problemResponses,
  },
})
const list = createRoute({
  method: 'get',
  path: '/threads/{id}/messages',
  summary: 'What was said, the newest first',
  request: {
    params: idParam,
    query: z.object({ cursor: idText.optional(), limit: z.coerce.number().int().min(1).max(200).default(50) }),
  },
  responses: {
    200: json(z.object({ items: z.array(message), nextCursor: z.string().optional() }), 'A page of them'),
    ...problemResponses,
  },
})
const clear = createRoute({
  method: 'delete',
  path: '/threads/{id}/messages',
  summary: 'Forget what was said',
  request: { params: idParam },
  responses: { 204: { description: 'It is forgotten' }, ...problemResponses },
})

export function messageRoutes(host: HostServices, models: Models, stopping: AbortSignal) {
  return new OpenAPIHono<Env>()
    .openapi(say, async (c) => {
      const { userId } = c.var.principal
      const { id: threadId } = c.req.valid('param')
      await host.threads.get(userId, threadId)
      const { message: sentMessage, messages, trigger, messageId, model, ...options } = c.req.valid('json')
      const { system, maxSteps, budget, limit: toolLimit, maxTokens: tokens, programs: code } = options
      const again = trigger === 'regenerate-message' ? { messageId } : undefined
      const parts = readParts(sentMessage ?? messages?.at(-1))
      if (!parts && !again) throw emptyMessage()
      const opened = await models.open(userId, model, { threadId })
      const tools = host.thread({ userId, threadId }, { mustExist: true })
      // Loaded on first use.
      const { streamChat } = await import('@loadout/core/agents')
      const response = await streamChat({
        host,
        userId,
        threadId,
        tools,
        model: opened,
        userParts: parts,
        again,
        system,
        maxSteps,
        budget,
        signal: AbortSignal.any([c.req.raw.signal, stopping]),
        resolve: {
          ...(toolLimit === undefined ? {} : { limit: toolLimit }),
          ...(tokens === undefined ? {} : { maxTokens: tokens }),
          ...(code === undefined ? {} : { programs: code }),
        },
      })
      return response as never
    })
    .openapi(list, async (c) => {
      const { cursor, limit: pageSize } = c.req.valid('query')
      const { id } = c.req.valid('param')
      // One extra row shows whether there is a next page.
      const found = await host.messages.list(c.var.principal.userId, id, { after: cursor, limit: pageSize + 1 })
      const items = found.slice(0, pageSize)
      const last = found.length > pageSize ? items.at(-1) : undefined
      return c.json({ items, ...(last ? { nextCursor: last.id } : {}) }, 200)
    })
    .openapi(clear, async (c) => {
      await host.messages.clear(c.var.principal.userId, c.req.valid('param').id)
      return c.body(null, 204)
    })
}

function readParts(body: unknown) {
  if (body === undefined) return undefined
  const read = parse(userMessage, body, ['message'])
  return typeof read === 'string' ? [{ type: 'text' as const, text: read }] : read.parts
}

const emptyMessage = () =>
  new HostError('invalid-input', {
    detail: 'message: nothing is said',
    errors: [{ path: 'message', message: 'nothing is said' }],
  })
