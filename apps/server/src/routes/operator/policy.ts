/** Policy routes: approvals, grants, rules, decisions and usage. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { approvalAnswer, approvalStatus, approvalView, policyRules, tier } from '@loadout/core/schema'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../../http/env.ts'
import { assertOperator } from '../../http/middleware.ts'
import { idParam, idText, json, jsonBodyOf, named } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'

const approval = named(approvalView, 'Approval')
const grant = z
  .object({
    id: z.string(),
    ref: z.string(),
    target: z.enum(['tool', 'toolkit']),
    decision: z.enum(['allow', 'deny']),
    threadId: z.string().optional(),
    createdAt: z.string(),
    void: z.literal(true).optional().meta({ description: 'What it was given for changed: it allows nothing' }),
  })
  .meta({ id: 'Grant' })
const rules = z.object({ rules: named(policyRules, 'PolicyRules') })
const rulesInput = z.strictObject({ rules: z.array(z.record(z.string(), z.unknown())).max(1000) })

const listApprovals = createRoute({
  method: 'get',
  path: '/approvals',
  summary: 'What is asked of the caller about calls, the newest first',
  request: {
    query: z.object({
      status: approvalStatus.optional(),
      cursor: idText.optional(),
      limit: z.coerce.number().int().min(1).max(1000).default(100),
    }),
  },
  responses: {
    200: json(z.object({ items: z.array(approval), nextCursor: z.string().optional() }), 'A page of them'),
    ...problemResponses,
  },
})
const showApproval = createRoute({
  method: 'get',
  path: '/approvals/{id}',
  summary: 'One of them',
  request: { params: idParam },
  responses: { 200: json(approval, 'It'), ...problemResponses },
})
const answerApproval = createRoute({
  method: 'post',
  path: '/approvals/{id}/answer',
  summary: 'Allow or deny, once or to be remembered; a second answer is 409',
  request: { params: idParam, body: jsonBodyOf(approvalAnswer) },
  responses: { 200: json(approval, 'As it is now'), ...problemResponses },
})
const listGrants = createRoute({
  method: 'get',
  path: '/grants',
  summary: 'Answers that the caller wanted remembered',
  responses: { 200: json(z.object({ items: z.array(grant) }), 'Them'), ...problemResponses },
})
const addGrant = createRoute({
  method: 'post',
  path: '/grants',
  summary: 'Remember an answer for a tool before it is asked for; refused where answers may not be remembered',
  request: {
    body: jsonBodyOf(
      z
        .strictObject({ ref: z.string().min(1).max(400), decision: z.enum(['allow', 'deny']) })
        .meta({ id: 'GrantInput' }),
    ),
  },
  responses: { 201: json(grant, 'It'), ...problemResponses },
})
const revokeGrant = createRoute({
  method: 'delete',
  path: '/grants/{id}',
  summary: 'Forget one',
  request: { params: idParam },
  responses: { 204: { description: 'Forgotten' }, ...problemResponses },
})
const appPolicy = rules.extend({
  given: named(policyRules, 'PolicyRules').meta({
    description: "Rules of the app's own code: tried first, read-only here",
  }),
})
const policyRoute = <const P extends string>(path: P, summary: string) => ({
  path,
  summary,
  responses: { 200: json(rules, 'Them'), ...problemResponses },
})
const showPolicy = createRoute({
  method: 'get',
  ...policyRoute('/policy', "The app's rules, in the order in which they are tried"),
  responses: { 200: json(appPolicy, 'Them'), ...problemResponses },
})
const setPolicy = createRoute({
  method: 'put',
  ...policyRoute('/policy', "Replace the app's rules"),
  request: { body: jsonBodyOf(rulesInput) },
})
const showOwn = createRoute({
  method: 'get',
  ...policyRoute('/policy/own', "The caller's own rules; they only tighten"),
})
const setOwn = createRoute({
  method: 'put',
  ...policyRoute('/policy/own', "Replace the caller's own rules"),
  request: { body: jsonBodyOf(rulesInput) },
})
const showThread = createRoute({
  method: 'get',
  ...policyRoute('/threads/{id}/policy', 'The rules of a thread; they only tighten'),
  request: { params: idParam },
})
const setThread = createRoute({
  method: 'put',
  ...policyRoute('/threads/{id}/policy', 'Replace the rules of a thread'),
  request: { params: idParam, body: jsonBodyOf(rulesInput) },
})
const decided = z.object({ decision: z.enum(['allow', 'ask', 'deny']), reason: z.string() })
const toolDecision = decided
  .extend({
    ref: z.string(),
    rule: z.string().optional().meta({ description: 'The pattern of the rule that decides' }),
    tier: tier.optional(),
    inherited: decided.extend({
      allowRemember: z.boolean().meta({ description: 'Whether an answer may be remembered' }),
    }),
  })
  .meta({ id: 'ToolDecision' })
const listDecisions = createRoute({
  method: 'get',
  path: '/policy/decisions',
  summary: 'What would be decided about each tool of a toolkit, and what without what the caller said themselves',
  request: { query: z.object({ toolkit: idText }) },
  responses: { 200: json(z.object({ items: z.array(toolDecision) }), 'For each tool'), ...problemResponses },
})
const counter = z.object({ used: z.number(), limit: z.number().optional(), resetsAt: z.string() })
const usage = createRoute({
  method: 'get',
  path: '/usage',
  summary: 'What the caller used of the limits',
  responses: {
    200: json(z.object({ callsThisHour: counter, tokensToday: counter }).meta({ id: 'Usage' }), 'It'),
    ...problemResponses,
  },
})

export function policyRoutes(host: HostServices) {
  const approvals = new OpenAPIHono<Env>()
    .openapi(listApprovals, async (c) => {
      const { status, cursor, limit } = c.req.valid('query')
      // One extra row shows whether there is a next page.
      const found = await host.approvals.list(c.var.principal.userId, { status, cursor, limit: limit + 1 })
      const items = found.slice(0, limit)
      const last = found.length > limit ? items.at(-1) : undefined
      return c.json({ items, ...(last ? { nextCursor: last.id } : {}) }, 200)
    })
    .openapi(showApproval, async (c) => {
      return c.json(await host.approvals.get(c.var.principal.userId, c.req.valid('param').id), 200)
    })
    .openapi(answerApproval, async (c) => {
      const { id } = c.req.valid('param')
      return c.json(await host.approvals.answer(c.var.principal.userId, id, c.req.valid('json')), 200)
    })
    .openapi(listGrants, async (c) => {
      const items = await host.grants.list(c.var.principal.userId)
      return c.json({ items: items.map((item) => ({ ...item, createdAt: item.createdAt.toISOString() })) }, 200)
    })
    .openapi(addGrant, async (c) => {
      const { ref, decision } = c.req.valid('json')
      const added = await host.decisions.remember(c.var.principal.userId, ref, decision)
      return c.json({ ...added, createdAt: added.createdAt.toISOString() }, 201)
    })
    .openapi(revokeGrant, async (c) => {
      await host.grants.revoke(c.var.principal.userId, c.req.valid('param').id)
      return c.body(null, 204)
    })
  return approvals
    .openapi(showPolicy, async (c) => {
      assertOperator(c.var.principal)
      return c.json({ rules: await host.rules.list({}), given: [...host.rules.fromCode()] }, 200)
    })
    .openapi(setPolicy, async (c) => {
      assertOperator(c.var.principal)
      return c.json(
        { rules: await host.rules.set({}, c.req.valid('json').rules, { actor: c.var.principal.userId }) },
        200,
      )
    })
    .openapi(showOwn, async (c) => {
      return c.json({ rules: await host.rules.list({ userId: c.var.principal.userId }) }, 200)
    })
    .openapi(setOwn, async (c) => {
      const { userId } = c.var.principal
      return c.json({ rules: await host.rules.set({ userId }, c.req.valid('json').rules) }, 200)
    })
    .openapi(listDecisions, async (c) => {
      return c.json({ items: await host.decisions.list(c.var.principal.userId, c.req.valid('query').toolkit) }, 200)
    })
    .openapi(showThread, async (c) => {
      const { userId } = c.var.principal
      const { id: threadId } = await host.threads.get(userId, c.req.valid('param').id)
      return c.json({ rules: await host.rules.list({ userId, threadId }) }, 200)
    })
    .openapi(setThread, async (c) => {
      const { userId } = c.var.principal
      const { id: threadId } = await host.threads.get(userId, c.req.valid('param').id)
      return c.json({ rules: await host.rules.set({ userId, threadId }, c.req.valid('json').rules) }, 200)
    })
    .openapi(usage, async (c) => c.json(await host.usage(c.var.principal.userId), 200))
}
