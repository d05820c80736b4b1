/** Test run of one tool of an unsaved custom toolkit, under the same rules as every call. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import type { HostServices, Trial } from '@loadout/core/services'
import { z } from 'zod'
import { block } from '../http/call-responses.ts'
import type { Env } from '../http/env.ts'
import { idText, json, jsonBodyOf } from '../http/openapi.ts'
import { problemResponses } from '../http/problem.ts'

const trial = z
  .object({
    callId: z.string(),
    status: z
      .enum(['ok', 'tool-error', 'approval-needed', 'denied', 'limited', 'sign-in-needed', 'failed'])
      .meta({ description: 'approval-needed: whoever calls it would be asked first, and nothing was run' }),
    content: z.array(block).optional(),
    structuredContent: z.unknown().optional(),
    resultHandle: z.string().optional(),
    error: z
      .object({
        code: z.string(),
        detail: z.string(),
        action: z.string(),
        errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      })
      .optional(),
    logs: z.array(z.object({ level: z.string(), text: z.string() })),
    durationMs: z.number(),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'Trial' })

const tryTool = createRoute({
  method: 'post',
  path: '/mcp/config/try',
  summary: 'Run one tool of a custom toolkit that is not saved; nothing of it is stored, and nobody is asked',
  request: {
    body: jsonBodyOf(
      z
        .strictObject({
          name: z.string().max(100).default('Tried'),
          config_json: z.record(z.string(), z.unknown()),
          tool: z.string().min(1).max(256),
          input: z.record(z.string(), z.unknown()).default({}),
          threadId: idText.optional(),
          uscoId: idText
            .optional()
            .meta({ description: 'The config that is being changed: its stored secrets are used' }),
          allow: z.boolean().default(false).meta({ description: 'Allow this one call, where you would be asked' }),
        })
        .meta({ id: 'TrialInput' }),
    ),
  },
  responses: { 200: json(trial, 'What came of it'), ...problemResponses },
})

export function trialRoutes(host: HostServices) {
  return new OpenAPIHono<Env>().openapi(tryTool, async (c) => {
    const { userId, scopes } = c.var.principal
    const { name, config_json, threadId, ...trialInput } = c.req.valid('json')
    // A trial needs `call`, and `approve` if it allows itself.
    for (const scope of trialInput.allow ? (['call', 'approve'] as const) : (['call'] as const))
      if (!scopes.includes(scope))
        throw new HostError('forbidden', { detail: `The API key lacks the scope "${scope}".` })
    if (threadId !== undefined) await host.threads.get(userId, threadId)
    const scope = { userId, threadId, signal: c.req.raw.signal }
    const tried = await host.tryTool(scope, { ...trialInput, record: { ...config_json, name } })
    return c.json(viewOf(tried), 200)
  })
}

function viewOf({ outcome, ...rest }: Trial): z.infer<typeof trial> {
  if (!('error' in outcome)) return { ...rest, ...outcome }
  const { code, message: detail, action, errors } = outcome.error
  const status = code === 'approval-pending' ? 'approval-needed' : outcome.status
  return { ...rest, status, error: { code, detail, action, ...(errors ? { errors } : {}) } }
}
