/** Workflow routes: versions, validation, preflight check and runs. Workflows of other users give 404. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError, type RunView } from '@loadout/core'
import { policyRules, runView, workflowView } from '@loadout/core/schema'
import type { HostServices } from '@loadout/core/services'
import type { Context } from 'hono'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { idParam, idText, json, jsonBodyOf, named } from '../http/openapi.ts'
import { problemResponses, toProblem } from '../http/problem.ts'
import { streamRun } from '../http/run-stream.ts'

const workflow = named(workflowView, 'Workflow')
const workflowResponses = { 200: json(workflow, 'The workflow'), ...problemResponses }
/** The library parses the definition and reports all problems at once. */
const definition = z
  .record(z.string(), z.unknown())
  .meta({ id: 'WorkflowDefinition', description: 'As `definition` of a Workflow: name, input, nodes, output' })

const list = createRoute({
  method: 'get',
  path: '/workflows',
  summary: "The caller's workflows, the newest first",
  request: {
    query: z.object({ cursor: idText.optional(), limit: z.coerce.number().int().min(1).max(200).default(50) }),
  },
  responses: {
    200: json(z.object({ items: z.array(workflow), nextCursor: z.string().optional() }), 'A page of them'),
    ...problemResponses,
  },
})
const create = createRoute({
  method: 'post',
  path: '/workflows',
  summary: 'Store a workflow; what is wrong with it is told all at once',
  request: { body: jsonBodyOf(definition) },
  responses: { 201: json(workflow, 'It is stored'), ...problemResponses },
})
const validate = createRoute({
  method: 'post',
  path: '/workflows/validate',
  summary: 'What is wrong with a definition, without storing it',
  request: { body: jsonBodyOf(definition) },
  responses: {
    200: json(
      z.object({ valid: z.boolean(), errors: z.array(z.object({ path: z.string(), message: z.string() })) }),
      'Every problem with its place',
    ),
    ...problemResponses,
  },
})
const show = createRoute({
  method: 'get',
  path: '/workflows/{id}',
  summary: 'A workflow as it is, or as it was in a version',
  request: { params: idParam, query: z.object({ version: z.coerce.number().int().min(1).optional() }) },
  responses: workflowResponses,
})
const baseVersion = z.coerce.number().int().min(1).optional().meta({
  description: 'The version that yours began with; 409 where another was saved since. Without it none is looked for',
})
const update = createRoute({
  method: 'put',
  path: '/workflows/{id}',
  summary: 'Make the next version of a workflow',
  request: { params: idParam, query: z.object({ baseVersion }), body: jsonBodyOf(definition) },
  responses: workflowResponses,
})
const remove = createRoute({
  method: 'delete',
  path: '/workflows/{id}',
  summary: 'Delete a workflow with its versions; its runs stay',
  request: { params: idParam },
  responses: { 204: { description: 'It is gone' }, ...problemResponses },
})
const versions = createRoute({
  method: 'get',
  path: '/workflows/{id}/versions',
  summary: 'All versions of a workflow, the newest first',
  request: { params: idParam },
  responses: { 200: json(z.object({ items: z.array(workflow) }), 'Its versions'), ...problemResponses },
})
const inlineServers = z
  .record(z.string(), z.unknown())
  .optional()
  .meta({ description: 'Toolkits of this run alone, by name, in any spelling; at most 16 serve' })
const checkBody = z
  .strictObject({ threadId: idText.optional(), mcpServers: inlineServers })
  .meta({ id: 'CheckScope', description: 'As the run would be started' })
const check = createRoute({
  method: 'post',
  path: '/workflows/{id}/check',
  summary: 'What would stop a run of it now. Calls no tool and starts no server',
  request: { params: idParam, body: { ...jsonBodyOf(checkBody), required: false } },
  responses: {
    200: json(
      z
        .object({
          ok: z.boolean(),
          problems: z.array(
            z.object({
              path: z.string(),
              code: z.string(),
              message: z.string(),
              action: z.string(),
              node: z.string().optional(),
              ref: z.string().optional(),
            }),
          ),
          warnings: z.array(z.string()),
          unseen: z.array(z.string()).meta({ description: 'Toolkits whose tools were never listed' }),
        })
        .meta({ id: 'Preflight' }),
      'Every problem by name',
    ),
    ...problemResponses,
  },
})

const workflowReference = {
  workflowId: idText.optional(),
  workflowVersionId: idText.optional(),
  definition: definition.optional().meta({ description: 'One that is not stored' }),
}
const wait = z.boolean().default(true).meta({ description: 'Until it is over, or waits for a person' })
const invokeBody = z
  .strictObject({
    ...workflowReference,
    input: z.unknown().optional(),
    mcpServers: inlineServers,
    threadId: idText.optional(),
    rules: named(policyRules, 'PolicyRules')
      .optional()
      .meta({ description: 'Rules of this run alone; they only tighten' }),
    wait,
  })
  .refine(
    (body) =>
      [body.workflowId, body.workflowVersionId, body.definition].filter((value) => value !== undefined).length === 1,
    'must name one of workflowId, workflowVersionId and definition',
  )
const invoked = runView
  .pick({ status: true, output: true, error: true, warnings: true })
  .extend({
    runId: z.string(),
    failedToolkits: z.array(z.object({ id: z.string(), reason: z.string() }).loose()),
    droppedToolkits: z.array(z.string()),
    usage: z.record(z.string(), z.unknown()),
    approvals: z.array(z.string()).meta({ description: 'What it waits for' }),
  })
  .meta({ id: 'Invocation' })
const onceOnly = z.object({
  'idempotency-key': z.string().min(1).max(255).optional().meta({ description: 'The same key is the same run' }),
})
const invoke = createRoute({
  method: 'post',
  path: '/workflow/invoke',
  summary: 'Run a workflow; with `Accept: text/event-stream` its nodes are streamed',
  request: {
    headers: onceOnly,
    body: jsonBodyOf(invokeBody),
  },
  responses: {
    200: json(invoked, 'It is over'),
    202: json(invoked, 'It goes on, or waits for a person'),
    ...problemResponses,
  },
})
const rerun = createRoute({
  method: 'post',
  path: '/runs/{id}/rerun',
  summary: 'A new run of the same workflow, that takes over what was completed before a node',
  request: {
    headers: onceOnly,
    params: idParam,
    body: jsonBodyOf(z.strictObject({ from: idText, mcpServers: inlineServers, wait })),
  },
  responses: {
    200: json(invoked, 'It is over'),
    202: json(invoked, 'It goes on, or waits for a person'),
    ...problemResponses,
  },
})

const OVER = new Set(['completed', 'failed', 'cancelled'])

export function workflowRoutes(host: HostServices) {
  return invokeRoutes(host, storedRoutes(host))
}

function storedRoutes(host: HostServices) {
  const { workflows } = host
  return new OpenAPIHono<Env>()
    .openapi(list, async (c) => {
      const { cursor, limit } = c.req.valid('query')
      // One extra row shows whether there is a next page.
      const found = await workflows.list(c.var.principal.userId, { cursor, limit: limit + 1 })
      const items = found.slice(0, limit)
      const last = found.length > limit ? items.at(-1) : undefined
      return c.json({ items, ...(last ? { nextCursor: last.id } : {}) }, 200)
    })
    .openapi(create, async (c) => c.json(await workflows.create(c.var.principal.userId, c.req.valid('json')), 201))
    .openapi(validate, async (c) => {
      const error = await workflows.validate(c.var.principal.userId, c.req.valid('json'))
      if (error && error.code !== 'invalid-input') throw error
      return c.json({ valid: error === undefined, errors: error?.errors ?? [] }, 200)
    })
    .openapi(show, async (c) => {
      const { version } = c.req.valid('query')
      return c.json(await workflows.get(c.var.principal.userId, c.req.valid('param').id, version), 200)
    })
    .openapi(update, async (c) => {
      const { id } = c.req.valid('param')
      const base = { id, ...c.req.valid('query') }
      return c.json(await workflows.update(c.var.principal.userId, base, c.req.valid('json')), 200)
    })
    .openapi(remove, async (c) => {
      await workflows.delete(c.var.principal.userId, c.req.valid('param').id)
      return c.body(null, 204)
    })
    .openapi(versions, async (c) => {
      return c.json({ items: await workflows.versions(c.var.principal.userId, c.req.valid('param').id) }, 200)
    })
    .openapi(check, async (c) => {
      const { id: workflowId } = c.req.valid('param')
      const { userId } = c.var.principal
      const scope = c.req.valid('json')
      if (scope?.threadId !== undefined) await host.threads.get(userId, scope.threadId)
      return c.json(await workflows.check(userId, { workflowId }, scope), 200)
    })
}

function invokeRoutes(host: HostServices, app: ReturnType<typeof storedRoutes>) {
  return app
    .openapi(invoke, async (c) => {
      const { principal } = c.var
      const { userId } = principal
      const {
        wait: waits,
        workflowId,
        workflowVersionId,
        definition: inlineDefinition,
        ...options
      } = c.req.valid('json')
      if (options.threadId !== undefined) await host.threads.get(userId, options.threadId)
      const named =
        workflowId !== undefined
          ? { workflowId }
          : workflowVersionId !== undefined
            ? { workflowVersionId }
            : { definition: inlineDefinition }
      const idempotencyKey = c.req.valid('header')['idempotency-key']
      const start = () => host.workflows.start(userId, { ...named, ...options, principal, idempotencyKey })
      return answer(c, host, { start, waits }) as never
    })
    .openapi(rerun, async (c) => {
      const { principal } = c.var
      const { wait: waits, ...options } = c.req.valid('json')
      const { id } = c.req.valid('param')
      const idempotencyKey = c.req.valid('header')['idempotency-key']
      const start = () => host.workflows.rerun(principal.userId, id, { ...options, principal, idempotencyKey })
      return answer(c, host, { start, waits }) as never
    })
}

async function answer(
  c: Context<Env>,
  host: HostServices,
  { start, waits }: { start: () => Promise<RunView>; waits: boolean },
): Promise<Response> {
  if (c.req.header('accept')?.includes('text/event-stream')) return streamRun(c, host, { start, tell: invocationOf })
  const started = await start()
  const { signal } = c.req.raw
  const run = waits ? await host.runs.settled(c.var.principal.userId, started.id, { signal }) : started
  // A failed preflight check gives a problem document with the run.
  if (run.error?.code === 'preflight-failed') return refused(c, run)
  return c.json(invocationOf(run), OVER.has(run.status) ? 200 : 202)
}

function invocationOf(run: RunView): z.infer<typeof invoked> {
  const {
    id: runId,
    status,
    output,
    error,
    warnings,
    failedToolkits = [],
    droppedToolkits = [],
    usage = {},
    steps,
  } = run
  return {
    runId,
    status,
    failedToolkits,
    droppedToolkits,
    usage,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(warnings === undefined ? {} : { warnings }),
    approvals: steps.flatMap(({ approvalId }) => approvalId ?? []),
  }
}

function refused(c: Context<Env>, run: RunView): Response {
  const problems = (run.error?.problems ?? []) as Array<{ path: string; message: string }>
  const errors = problems.map(({ path, message }) => ({ path, message }))
  const error = new HostError('preflight-failed', { detail: run.error?.message ?? '', errors })
  const body = { ...invocationOf(run), ...toProblem(error, c.get('requestId') ?? ''), runId: run.id, run: run.status }
  return c.body(JSON.stringify(body), 422, { 'content-type': 'application/problem+json' })
}
