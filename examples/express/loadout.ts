import { createHost } from '@loadout/core'
import { createModels } from '@loadout/core/agents/models'
import { nodeDrivers } from '@loadout/core/node'
import { createApp } from '@loadout/server'
import { webFolder } from '@loadout/server/web'

const { MODEL: model, MODEL_URL: anthropic, PRIVATE_NETWORK, TOKENS = '{}' } = process.env
const users: Record<string, string> = JSON.parse(TOKENS)

/** The app's own users: here bearer tokens, elsewhere your session. */
function authenticate(request: Request) {
  const userId = users[request.headers.get('authorization')?.replace('Bearer ', '') ?? '']
  return userId === undefined ? undefined : { kind: 'session' as const, userId }
}

const host = createHost({ drivers: nodeDrivers({ guard: { privateNetwork: PRIVATE_NETWORK === 'on' } }) })
const models = createModels({ host, model, baseUrls: { anthropic } })
export const loadout = createApp({ host, models, authenticate, basePath: '/tools', webDir: webFolder })
