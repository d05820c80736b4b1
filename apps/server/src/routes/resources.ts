import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { idParam, idText, json, jsonBodyOf } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

const item = z.record(z.string(), z.unknown())
const items = json(z.object({ items: z.array(item) }), 'As the server lists them')
const whole = json(item, 'As the server gives it')

const uri = z.string().min(1).max(4096)
const values = z.record(z.string(), z.string())
const completion = z
  .object({ values: z.array(z.string()), total: z.number().optional(), hasMore: z.boolean().optional() })
  .meta({ id: 'Completion' })

const listResources = createRoute({
  method: 'get',
  path: '/mcp/{id}/resources',
  summary: 'The resources that a server offers',
  request: { params: idParam },
  responses: { 200: items, ...problemResponses },
})
const readResource = createRoute({
  method: 'get',
  path: '/mcp/{id}/resources/read',
  summary: 'One resource, by its URI',
  request: { params: idParam, query: z.object({ uri }) },
  responses: { 200: whole, ...problemResponses },
})
const listTemplates = createRoute({
  method: 'get',
  path: '/mcp/{id}/resources/templates',
  summary: 'List the URI templates of a server',
  request: { params: idParam },
  responses: { 200: items, ...problemResponses },
})
const readTemplate = createRoute({
  method: 'post',
  path: '/mcp/{id}/resources/read',
  summary: 'Read the resource that a URI template names',
  request: {
    params: idParam,
    body: jsonBodyOf(z.strictObject({ uriTemplate: uri, arguments: values.default({}) })),
  },
  responses: { 200: whole, ...problemResponses },
})
const complete = createRoute({
  method: 'post',
  path: '/mcp/{id}/complete',
  summary: 'Suggest values for an argument of a prompt or a URI template',
  request: {
    params: idParam,
    body: jsonBodyOf(
      z.strictObject({
        ref: z.union([z.strictObject({ prompt: idText }), z.strictObject({ uriTemplate: uri })]),
        argument: z.strictObject({ name: z.string().min(1).max(200), value: z.string().max(4096) }),
        arguments: values.optional(),
      }),
    ),
  },
  responses: { 200: json(completion, 'Suggestions, best first'), ...problemResponses },
})
const listSkills = createRoute({
  method: 'get',
  path: '/mcp/{id}/skills',
  summary: 'The skills that a server offers; none of their files is read',
  request: { params: idParam },
  responses: { 200: items, ...problemResponses },
})
const readSkill = createRoute({
  method: 'get',
  path: '/mcp/{id}/skills/read',
  summary: 'One file of a skill, checked against what the server lists of it',
  request: {
    params: idParam,
    query: z.object({ skill: z.string().min(1).max(4096), file: z.string().min(1).max(4096).optional() }),
  },
  responses: { 200: whole, ...problemResponses },
})
const listPrompts = createRoute({
  method: 'get',
  path: '/mcp/{id}/prompts',
  summary: 'The prompts that a server offers',
  request: { params: idParam },
  responses: { 200: items, ...problemResponses },
})
const getPrompt = createRoute({
  method: 'post',
  path: '/mcp/{id}/prompts/{name}',
  summary: 'One prompt, filled in',
  request: {
    params: z.object({ id: idText, name: idText }),
    body: jsonBodyOf(z.strictObject({ arguments: z.record(z.string(), z.string()).default({}) })),
  },
  responses: { 200: whole, ...problemResponses },
})

export function resourceRoutes({ resources, prompts, skills }: HostServices) {
  return new OpenAPIHono<Env>()
    .openapi(listResources, async (c) =>
      c.json({ items: await resources.list(c.var.principal.userId, c.req.valid('param').id) }, 200),
    )
    .openapi(readResource, async (c) =>
      c.json(await resources.read(c.var.principal.userId, c.req.valid('param').id, c.req.valid('query').uri), 200),
    )
    .openapi(listTemplates, async (c) =>
      c.json({ items: await resources.templates(c.var.principal.userId, c.req.valid('param').id) }, 200),
    )
    .openapi(readTemplate, async (c) =>
      c.json(await resources.readTemplate(c.var.principal.userId, c.req.valid('param').id, c.req.valid('json')), 200),
    )
    .openapi(complete, async (c) => {
      const { userId } = c.var.principal
      const { id } = c.req.valid('param')
      const { ref, ...partial } = c.req.valid('json')
      const suggested =
        'prompt' in ref
          ? await prompts.complete(userId, id, { name: ref.prompt, ...partial })
          : await resources.complete(userId, id, { uriTemplate: ref.uriTemplate, ...partial })
      return c.json(suggested, 200)
    })
    .openapi(listSkills, async (c) =>
      c.json({ items: await skills.list(c.var.principal.userId, c.req.valid('param').id) }, 200),
    )
    .openapi(readSkill, async (c) =>
      c.json(await skills.read(c.var.principal.userId, c.req.valid('param').id, c.req.valid('query')), 200),
    )
    .openapi(listPrompts, async (c) =>
      c.json({ items: await prompts.list(c.var.principal.userId, c.req.valid('param').id) }, 200),
    )
    .openapi(getPrompt, async (c) => {
      const { id, name } = c.req.valid('param')
      return c.json(
        await prompts.get(c.var.principal.userId, id, { name, arguments: c.req.valid('json').arguments }),
        200,
      )
    })
}
