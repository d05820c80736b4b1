/** An in-memory app with production authentication: API keys and sessions. A request without either is the local user. */
import { rule } from '@loadout/core'
import { createServices, type HostServices, type ServiceOptions } from '@loadout/core/services'
import { createApiKeys } from '../../src/auth/api-keys.ts'
import { byApiKey, LOCAL } from '../../src/auth/authenticate.ts'
import { createApp } from '../../src/http/app.ts'
import type { Ask, Body } from './multi-user-app.ts'

export interface ApiKeyApp {
  host: HostServices
  local: Ask
  session(userId: string): Ask
  /** Makes a key for a user by the API; asks with it from then on. */
  withKey(userId: string): Promise<Ask>
}

const BOOTSTRAP = 'bootstrap-key-of-a-test-0123456789abcdef'

export function apiKeyApp(options: ServiceOptions = {}): ApiKeyApp {
  const host = createServices({ policy: [rule('*', 'allow')], ...options })
  const apiKeys = createApiKeys(host.storage)
  const byKey = byApiKey(apiKeys, BOOTSTRAP)
  const app = createApp({
    host,
    apiKeys,
    authenticate: (request) => {
      const userId = request.headers.get('x-user')
      if (userId !== null) return { kind: 'session', userId, role: 'user' }
      return request.headers.has('authorization') ? byKey(request) : LOCAL
    },
  })
  const asking =
    (who: Record<string, string>): Ask =>
    async (route, body) => {
      const [method = 'GET', path = ''] = route.split(' ')
      const sent = { body: JSON.stringify(body), headers: { ...who, 'content-type': 'application/json' } }
      const answer = await app.request(path, { method, ...(body === undefined ? { headers: who } : sent) })
      const text = await answer.text()
      return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as Body) }
    }
  return {
    host,
    local: asking({}),
    session: (userId) => asking({ 'x-user': userId }),
    async withKey(userId) {
      const { body } = await asking({ authorization: `Bearer ${BOOTSTRAP}` })('POST /api/keys', { name: 'k', userId })
      return asking({ authorization: `Bearer ${body.key}` })
    },
  }
}
