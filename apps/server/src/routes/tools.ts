/** Tool search, as a model uses it, and explanations of tool availability. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { reason as reasonSchema, tier } from '@loadout/core/schema'
import type { HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../http/env.ts'
import { idText, json, named } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

const found = z
  .object({
    ref: z.string(),
    modelName: z.string(),
    toolkit: z.string(),
    name: z.string(),
    description: z.string().optional(),
    /** Approximate tokens of the definition in a model's context. */
    tokens: z.number(),
    score: z.number(),
    reasons: z.array(z.string()),
  })
  .meta({ id: 'FoundTool' })

const search = createRoute({
  method: 'get',
  path: '/tools',
  summary: 'Search the tools that the caller, or one of their threads, carries',
  request: {
    query: z.object({
      q: z.string().max(10_000).meta({ description: 'What is wanted, in words; for `regex` a pattern' }),
      strategy: z.enum(['hybrid', 'bm25', 'semantic', 'regex']).optional(),
      limit: z.coerce.number().int().min(1).max(100).default(10),
      threadId: idText.optional(),
    }),
  },
  responses: {
    200: json(
      z.object({
        items: z.array(found),
        tools: z.array(found).meta({ description: 'The same as `items`' }),
        strategy: z.string(),
        warnings: z.array(z.string()),
      }),
      'Best first',
    ),
    ...problemResponses,
  },
})

const explain = createRoute({
  method: 'get',
  path: '/tools/explain',
  summary: 'For every tool of the caller, outside of any thread: what it costs, and why it is carried or not',
  responses: {
    200: json(
      z
        .object({
          items: z.array(
            z.object({
              ref: z.string(),
              modelName: z.string(),
              tier,
              tokens: z.number().meta({ description: "About what its definition costs in a model's context" }),
              included: z.boolean(),
              reasons: z.array(named(reasonSchema, 'Reason')),
            }),
          ),
        })
        .meta({ id: 'ToolExplanation' }),
      'All of them',
    ),
    ...problemResponses,
  },
})

const declaration = createRoute({
  method: 'get',
  path: '/tools/{toolkit}/{tool}/declaration',
  summary: 'One tool as a program sees it: its TypeScript declaration',
  request: { params: z.object({ toolkit: idText, tool: z.string().min(1).max(256) }) },
  responses: {
    200: json(
      z
        .object({
          text: z.string().meta({ description: 'What `describe` tells in a program' }),
          name: z.string().meta({ description: 'How a program names it', example: 'everything["get-sum"]' }),
          uncallable: z
            .string()
            .optional()
            .meta({ description: 'Why no program of the caller can call it, where none can' }),
        })
        .meta({ id: 'ToolDeclaration' }),
      'It',
    ),
    ...problemResponses,
  },
})

export function toolRoutes(host: HostServices) {
  const tools = new OpenAPIHono<Env>().openapi(explain, async (c) => {
    // Uses cached tools, so that the response waits for no server.
    const { entries } = await host.loadouts.resolve({ userId: c.var.principal.userId }, { background: true })
    const items = entries.map(({ ref, modelName, tier, tokens, included, reasons }) => ({
      ref,
      modelName,
      tier,
      tokens,
      included,
      reasons: [...reasons],
    }))
    return c.json({ items }, 200)
  })
  const searched = tools.openapi(search, async (c) => {
    const { q, strategy, limit, threadId } = c.req.valid('query')
    const { userId } = c.get('principal')
    // Threads of other users give 404.
    if (threadId !== undefined) await host.threads.get(userId, threadId)
    const answer = await host.search({ userId, threadId }, q, { strategy, limit })
    const tools = answer.tools.map(({ entry, ref, score, reasons }) => ({
      ref,
      modelName: entry.modelName,
      toolkit: entry.toolkit,
      name: entry.manifest.name,
      ...(entry.manifest.description === undefined ? {} : { description: entry.manifest.description }),
      tokens: entry.tokens,
      score,
      reasons: [...reasons],
    }))
    return c.json({ items: tools, tools, strategy: answer.strategy, warnings: [...answer.warnings] }, 200)
  })
  return searched.openapi(declaration, async (c) => {
    const { userId } = c.var.principal
    const { toolkit, tool } = c.req.valid('param')
    const { toolkit: found } = await host.toolkits.find(userId, toolkit)
    return c.json(await host.declaration({ userId }, `${found.id}.${tool}`), 200)
  })
}
