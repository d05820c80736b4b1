/** Which models can be asked, and keys for them: one's own, or for operators the app's. A key is written and never read. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { APP_OWNER, type Host, HostError } from 'loadout'
import { MODEL_PROVIDERS, type ModelProvider, type Models } from 'loadout/agents/models'
import { assertOperator } from '../doors.ts'
import { idText, json, jsonBodyOf } from '../openapi.ts'
import { problemResponses } from '../problem.ts'
import type { Env } from '../variables.ts'

const provider = z.object({ provider: idText.openapi({ description: MODEL_PROVIDERS.join(', ') }) })
const models = z
  .object({
    model: z.string().optional().openapi({ description: 'The one where none is named' }),
    providers: z.array(z.object({ provider: z.enum(MODEL_PROVIDERS), key: z.enum(['user', 'app', 'none']) })),
  })
  .openapi('Models')
const key = jsonBodyOf(z.strictObject({ key: z.string().min(1).max(4096) }))
const done = { 204: { description: 'Done' }, ...problemResponses }

const show = createRoute({
  method: 'get',
  path: '/models',
  summary: 'Which providers of models can be asked, and with whose key',
  responses: { 200: json(models, 'They, without their keys'), ...problemResponses },
})
const save = createRoute({
  method: 'put',
  path: '/models/{provider}/key',
  summary: "Save a key of one's own for a provider of models",
  request: { params: provider, body: key },
  responses: done,
})
const clear = createRoute({
  method: 'delete',
  path: '/models/{provider}/key',
  summary: "Remove one's own key",
  request: { params: provider },
  responses: done,
})
const saveForAll = createRoute({
  method: 'put',
  path: '/app/models/{provider}/key',
  summary: 'Save a key for all users who have none (operators)',
  request: { params: provider, body: key },
  responses: done,
})
const clearForAll = createRoute({
  method: 'delete',
  path: '/app/models/{provider}/key',
  summary: 'Remove the key for all (operators)',
  request: { params: provider },
  responses: done,
})

export function modelRoutes(host: Host, known: Models) {
  const changed = (userId: string, action: string, detail: Record<string, string>) =>
    host.audit.record({ userId, action, detail })
  return new OpenAPIHono<Env>()
    .openapi(show, async (c) => {
      const keys = await known.keys(c.var.principal.userId)
      const providers = MODEL_PROVIDERS.map((one) => ({ provider: one, key: keys[one] }))
      return c.json({ providers, ...(known.model === undefined ? {} : { model: known.model }) }, 200)
    })
    .openapi(save, async (c) => {
      const { userId } = c.var.principal
      const of = providerOf(c.req.valid('param').provider)
      await known.saveKey(userId, of, c.req.valid('json').key)
      await changed(userId, 'credential_set', { provider: of, tier: 'user' })
      return c.body(null, 204)
    })
    .openapi(clear, async (c) => {
      const { userId } = c.var.principal
      const of = providerOf(c.req.valid('param').provider)
      await known.clearKey(userId, of)
      await changed(userId, 'credential_cleared', { provider: of, tier: 'user' })
      return c.body(null, 204)
    })
    .openapi(saveForAll, async (c) => {
      assertOperator(c.var.principal)
      const of = providerOf(c.req.valid('param').provider)
      await known.saveKey(APP_OWNER, of, c.req.valid('json').key)
      await changed(c.var.principal.userId, 'credential_set', { provider: of, tier: 'app' })
      return c.body(null, 204)
    })
    .openapi(clearForAll, async (c) => {
      assertOperator(c.var.principal)
      const of = providerOf(c.req.valid('param').provider)
      await known.clearKey(APP_OWNER, of)
      await changed(c.var.principal.userId, 'credential_cleared', { provider: of, tier: 'app' })
      return c.body(null, 204)
    })
}

function providerOf(text: string): ModelProvider {
  const found = MODEL_PROVIDERS.find((one) => one === text)
  if (found) return found
  const detail = `There is no provider "${text.slice(0, 80)}". There are: ${MODEL_PROVIDERS.join(', ')}.`
  throw new HostError('not-found', { detail })
}
