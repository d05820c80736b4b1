/** Audit log routes: own entries, or all entries for operators, as pages or as a streamed file. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { auditView, type Principal } from '@loadout/core/schema'
import type { AuditFilter, AuditReader, HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../../http/env.ts'
import { assertOperator } from '../../http/middleware.ts'
import { idText, json, named } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'
import { RANGES, usageHistory } from '../../ops/usage-history.ts'

const entry = named(auditView, 'AuditLine')
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text))
const query = z.object({
  action: idText.optional(),
  toolkit: idText.optional(),
  ref: idText.optional(),
  outcome: idText.optional(),
  threadId: idText.optional(),
  callId: idText.optional(),
  caller: z.enum(['direct', 'code', 'workflow']).optional().meta({ description: 'Who asked for a call' }),
  decision: z.enum(['allow', 'ask', 'deny']).optional().meta({ description: 'What was decided about it' }),
  from: time.optional().meta({ type: 'string', format: 'date-time' }),
  to: time.optional().meta({ type: 'string', format: 'date-time' }),
  userId: idText.optional().meta({ description: 'Lines of this user; for operators' }),
  all: z.enum(['true', 'false']).default('false').meta({ description: 'Lines of everyone; for operators' }),
  format: z.enum(['json', 'csv', 'jsonl']).default('json'),
  cursor: idText.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
})

const list = createRoute({
  method: 'get',
  path: '/audit',
  summary: 'What happened, the newest first',
  request: { query },
  responses: {
    200: {
      description: 'A page of it; as CSV or JSONL all of it',
      content: {
        'application/json': { schema: z.object({ items: z.array(entry), nextCursor: z.string().optional() }) },
        'text/csv': { schema: z.string() },
        'application/x-ndjson': { schema: z.string() },
      },
    },
    ...problemResponses,
  },
})
const verdict = z
  .object({
    ok: z.boolean(),
    rows: z.number().meta({ description: 'Number of entries that were read' }),
    auditId: z.string().optional().meta({ description: 'Where it is broken' }),
    reason: z.string().optional(),
  })
  .meta({ id: 'AuditVerdict' })
const verify = createRoute({
  method: 'get',
  path: '/app/audit/verify',
  summary: 'Whether the log is whole, and where it is not; operators only',
  responses: { 200: json(verdict, 'What was found'), ...problemResponses },
})

const measured = {
  calls: z.number(),
  errors: z.number().meta({ description: 'Failed, or answered with an error' }),
  refused: z.number().meta({ description: 'Denied, limited or without a sign-in: no server saw them' }),
  p50: z.number().optional().meta({ description: 'Milliseconds' }),
  p95: z.number().optional(),
}
const history = z
  .object({
    from: z.string(),
    bucketMs: z.number(),
    total: z.object({ ...measured, resultBytes: z.number() }),
    buckets: z.array(z.object({ at: z.string(), ...measured, resultBytes: z.number() })),
    tools: z.array(z.object({ ref: z.string(), ...measured })).meta({ description: 'Those called most' }),
    complete: z
      .boolean()
      .meta({ description: 'Whether all entries of the period were read; otherwise only the newest' }),
  })
  .meta({ id: 'UsageHistory' })
const showHistory = createRoute({
  method: 'get',
  path: '/usage/history',
  summary: "The caller's calls over time, from their own lines of the log",
  request: {
    query: z.object({
      range: z.enum(RANGES).default('24h'),
      ref: idText.optional().meta({ description: 'Of one tool' }),
    }),
  },
  responses: { 200: json(history, 'Counted'), ...problemResponses },
})

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/x-ndjson' } as const

export function auditRoutes(host: HostServices) {
  return new OpenAPIHono<Env>()
    .openapi(list, async (c) => {
      const { all, format, cursor, limit, ...filter } = c.req.valid('query')
      const reader = readerOf(c.var.principal, { all: all === 'true', userId: filter.userId })
      if (format === 'json') return c.json(await host.audit.list(reader, filter, { cursor, limit }), 200)
      const headers = {
        'content-type': TYPES[format],
        'content-disposition': `attachment; filename="audit.${format}"`,
      }
      return new Response(streamOf(host.audit.export(reader, format, filter as AuditFilter)), { headers }) as never
    })
    .openapi(showHistory, async (c) =>
      c.json(await usageHistory(host.audit, { userId: c.var.principal.userId, ...c.req.valid('query') }), 200),
    )
    .openapi(verify, async (c) => {
      assertOperator(c.var.principal)
      return c.json(await host.audit.verify(), 200)
    })
}

/** Only operators may read other users' entries; others learn nothing about their existence. */
function readerOf(caller: Principal, { all, userId }: { all: boolean; userId: string | undefined }): AuditReader {
  if (!all && (userId === undefined || userId === caller.userId)) return { userId: caller.userId }
  assertOperator(caller)
  return { everyone: true }
}

/** Streams with backpressure. */
function streamOf(pieces: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
