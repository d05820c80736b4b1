/** Model routes: available models and write-only keys, of a user or, for operators, of the app. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import { MODEL_PROVIDERS, type ModelProvider, type Models } from '@loadout/core/agents/models'
import { APP_OWNER, type HostServices } from '@loadout/core/services'
import { z } from 'zod'
import type { Env } from '../../http/env.ts'
import { assertOperator } from '../../http/middleware.ts'
import { idText, json, jsonBodyOf } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'

const provider = z.object({ provider: idText.meta({ description: MODEL_PROVIDERS.join(', ') }) })
const models = z
  .object({
    model: z.string().optional().meta({ description: 'The one where none is named' }),
    providers: z.array(
      z.object({
        provider: z.enum(MODEL_PROVIDERS),
        key: z.enum(['user', 'app', 'none']),
        models: z.array(z.string()).meta({
          description:
            'What you may ask: names and globs. With your own key all, with the app’s what the operator lists',
        }),
      }),
    ),
  })
  .meta({ id: 'Models' })
const key = jsonBodyOf(z.strictObject({ key: z.string().min(1).max(4096) }))
const done = { 204: { description: 'Done' }, ...problemResponses }

const show = createRoute({
  method: 'get',
  path: '/models',
  summary: 'Which models can be asked, and with whose key',
  responses: { 200: json(models, 'They, without their keys'), ...problemResponses },
})
const saving = <P extends string>(path: P, summary: string) =>
  createRoute({ method: 'put', path, summary, request: { params: provider, body: key }, responses: done })
const clearing = <P extends string>(path: P, summary: string) =>
  createRoute({ method: 'delete', path, summary, request: { params: provider }, responses: done })
const save = saving('/models/{provider}/key', "Save a key of one's own for a provider of models")
const clear = clearing('/models/{provider}/key', "Remove one's own key")
const saveAppKey = saving('/app/models/{provider}/key', 'Save a key for all users who have none (operators)')
const clearAppKey = clearing('/app/models/{provider}/key', 'Remove the key for all (operators)')

interface Change {
  provider: string
  /** Undefined removes the key. */
  key?: string
}

export function modelRoutes(host: HostServices, service: Models) {
  const change = async (userId: string, tier: 'user' | 'app', { provider: text, key: secret }: Change) => {
    const providerName = providerOf(text)
    const owner = tier === 'app' ? APP_OWNER : userId
    if (secret === undefined) await service.clearKey(owner, providerName)
    else await service.saveKey(owner, providerName, secret)
    const action = secret === undefined ? 'credential_cleared' : 'credential_set'
    await host.audit.record({ userId, action, detail: { provider: providerName, tier } })
  }
  return new OpenAPIHono<Env>()
    .openapi(show, async (c) => {
      const { userId } = c.var.principal
      const [keys, names] = await Promise.all([service.keys(userId), service.names(userId)])
      const providers = MODEL_PROVIDERS.map((name) => ({ provider: name, key: keys[name], models: names[name] }))
      return c.json({ providers, ...(service.model === undefined ? {} : { model: service.model }) }, 200)
    })
    .openapi(save, async (c) => {
      await change(c.var.principal.userId, 'user', { ...c.req.valid('param'), ...c.req.valid('json') })
      return c.body(null, 204)
    })
    .openapi(clear, async (c) => {
      await change(c.var.principal.userId, 'user', c.req.valid('param'))
      return c.body(null, 204)
    })
    .openapi(saveAppKey, async (c) => {
      assertOperator(c.var.principal)
      await change(c.var.principal.userId, 'app', { ...c.req.valid('param'), ...c.req.valid('json') })
      return c.body(null, 204)
    })
    .openapi(clearAppKey, async (c) => {
      assertOperator(c.var.principal)
      await change(c.var.principal.userId, 'app', c.req.valid('param'))
      return c.body(null, 204)
    })
}

function providerOf(text: string): ModelProvider {
  const found = MODEL_PROVIDERS.find((name) => name === text)
  if (found) return found
  const detail = `There is no provider "${text.slice(0, 80)}". There are: ${MODEL_PROVIDERS.join(', ')}.`
  throw new HostError('not-found', { detail })
}
