import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { SignIn } from '../../auth/sign-in.ts'
import type { UserWithMethods } from '../../auth/user-admin.ts'
import type { Env } from '../../http/env.ts'
import { assertOperator } from '../../http/middleware.ts'
import { idParam, json, jsonBodyOf } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'
import { email, signInOf } from './auth.ts'
import { personName } from './auth-links.ts'

const removed = z
  .object({
    rows: z.number().meta({ description: 'Rows that are gone, beside what went with them' }),
    lines: z.number().meta({ description: 'Lines of the log that lost their person' }),
  })
  .meta({ id: 'RemovedUser' })
const user = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    operator: z.boolean(),
    disabled: z.boolean(),
    createdAt: z.iso.datetime(),
    lastSignInAt: z.iso.datetime().nullable(),
    methods: z
      .array(z.enum(['password', 'oidc']))
      .meta({ description: 'Empty where somebody invited has not come yet' }),
  })
  .meta({ id: 'User' })
const link = z
  .object({ url: z.string().meta({ description: 'For the user alone; good once' }), expiresAt: z.iso.datetime() })
  .meta({ id: 'UserLink' })

const list = createRoute({
  method: 'get',
  path: '/users',
  summary: 'Who can sign in; operators only',
  request: {
    query: z.object({
      cursor: z.string().max(300).optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
  },
  responses: {
    200: json(z.object({ items: z.array(user), nextCursor: z.string().optional() }), 'In the order they came'),
    ...problemResponses,
  },
})
const invite = createRoute({
  method: 'post',
  path: '/users',
  summary: 'Make a user, and a link for them to choose a password by; operators only',
  request: {
    body: jsonBodyOf(z.strictObject({ email, name: personName.optional(), operator: z.boolean().default(false) })),
  },
  responses: { 201: json(z.object({ user, link }), 'Made'), ...problemResponses },
})
const change = createRoute({
  method: 'patch',
  path: '/users/{id}',
  summary: 'Rename, make an operator or not, disable or not; who is disabled is out at once; operators only',
  request: {
    params: idParam,
    body: jsonBodyOf(
      z.strictObject({
        name: personName.optional(),
        operator: z.boolean().optional(),
        disabled: z.boolean().optional(),
      }),
    ),
  },
  responses: { 200: json(user, 'As it is now'), ...problemResponses },
})
const makeLink = createRoute({
  method: 'post',
  path: '/users/{id}/link',
  summary: 'A link for a user to choose a password by; earlier ones end; operators only',
  request: { params: idParam },
  responses: { 201: json(link, 'The link'), ...problemResponses },
})
const signOut = createRoute({
  method: 'delete',
  path: '/users/{id}/sessions',
  summary: 'Sign a user out everywhere; operators only',
  request: { params: idParam },
  responses: { 204: { description: 'Signed out' }, ...problemResponses },
})
const remove = createRoute({
  method: 'delete',
  path: '/users/{id}',
  summary: 'Remove a user with all that is theirs; the log stays whole without them; operators only',
  request: { params: idParam },
  responses: { 200: json(removed, 'Removed'), ...problemResponses },
})

export function userRoutes(host: HostServices, signIn?: SignIn) {
  const people = () => signInOf({ signIn }).people
  const linkOf = (made: Parameters<SignIn['urlOf']>[0]) => ({
    url: signInOf({ signIn }).urlOf(made),
    expiresAt: made.expiresAt.toISOString(),
  })
  const record = (userId: string, action: string, detail: Record<string, string | boolean>) =>
    host.audit.record({ userId, action, detail })
  return new OpenAPIHono<Env>()
    .openapi(list, async (c) => {
      assertOperator(c.var.principal)
      const { cursor: after, limit } = c.req.valid('query')
      const found = await people().list({ after, limit: limit + 1 })
      const items = found.slice(0, limit).map(viewOf)
      return c.json({ items, ...(found.length > limit ? { nextCursor: items.at(-1)?.id ?? '' } : {}) }, 200)
    })
    .openapi(invite, async (c) => {
      assertOperator(c.var.principal)
      const { email: to, name = to, operator } = c.req.valid('json')
      const { person, link: made } = await people().invite({ email: to, name, operator })
      await record(c.var.principal.userId, 'user_invited', { user: person.userId, operator })
      return c.json({ user: viewOf(person), link: linkOf(made) }, 201)
    })
    .openapi(change, async (c) => {
      assertOperator(c.var.principal)
      const { id } = c.req.valid('param')
      const { name, ...patch } = c.req.valid('json')
      const person = await people().change(id, { name, ...patch })
      await record(c.var.principal.userId, 'user_changed', { user: id, ...patch })
      return c.json(viewOf(person), 200)
    })
    .openapi(makeLink, async (c) => {
      assertOperator(c.var.principal)
      const { id } = c.req.valid('param')
      const made = await people().makeLink(id)
      await record(c.var.principal.userId, 'sign_in_link_made', { user: id, kind: made.kind })
      return c.json(linkOf(made), 201)
    })
    .openapi(signOut, async (c) => {
      assertOperator(c.var.principal)
      const { id } = c.req.valid('param')
      await people().signOut(id)
      await record(c.var.principal.userId, 'user_signed_out', { user: id })
      return c.body(null, 204)
    })
    .openapi(remove, async (c) => {
      assertOperator(c.var.principal)
      const { id } = c.req.valid('param')
      await signIn?.people.stopOperating(id)
      const gone = await host.users.remove(id)
      // The audit entry does not name the removed user.
      await host.audit.record({ userId: c.var.principal.userId, action: 'user_removed', detail: { ...gone } })
      return c.json(gone, 200)
    })
}

function viewOf(person: UserWithMethods): z.infer<typeof user> {
  const { userId: id, email: to, name, methods } = person
  return {
    id,
    email: to,
    name,
    operator: person.role === 'operator',
    disabled: person.disabledAt !== null,
    methods,
    createdAt: person.createdAt.toISOString(),
    lastSignInAt: person.lastSignInAt?.toISOString() ?? null,
  }
}
