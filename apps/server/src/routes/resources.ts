import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Host } from 'loadout'
import { idParam, idText, json, jsonBodyOf } from '../openapi.ts'
import { problemResponses } from '../problem.ts'
import type { Env } from '../variables.ts'

const item = z.record(z.string(), z.unknown())
const items = json(z.object({ items: z.array(item) }), 'As the server lists them')
const whole = json(item, 'As the server gives it')

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
  request: { params: idParam, query: z.object({ uri: z.string().min(1).max(4096) }) },
  responses: { 200: whole, ...problemResponses },
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

export function resourceRoutes({ resources, prompts, skills }: Host) {
  return new OpenAPIHono<Env>()
    .openapi(listResources, async (c) =>
      c.json({ items: await resources.list(c.var.principal.userId, c.req.valid('param').id) }, 200),
    )
    .openapi(readResource, async (c) =>
      c.json(await resources.read(c.var.principal.userId, c.req.valid('param').id, c.req.valid('query').uri), 200),
    )
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
