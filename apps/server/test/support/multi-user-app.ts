/** An in-memory app that takes the user from a header, for tests of several users. */
import { rule } from '@loadout/core'
import { createServices, type HostServices, type ServiceOptions } from '@loadout/core/services'
import { createApp } from '../../src/http/app.ts'

/** The shapes of many routes, looked at by the assertions. */
export type Body = ReturnType<typeof JSON.parse>
export interface Answer {
  status: number
  body: Body
}
export type Ask = (route: `${string} ${string}`, body?: unknown) => Promise<Answer>

export interface MultiUserApp {
  host: HostServices
  /** Asks as a user. */
  as(userId: string, role?: 'user' | 'operator'): Ask
}

export function multiUserApp(options: ServiceOptions = {}): MultiUserApp {
  const host = createServices({ policy: [rule('*', 'allow')], ...options })
  const app = createApp({
    host,
    authenticate: ({ headers }) => {
      const userId = headers.get('x-user')
      const role = headers.get('x-role') === 'operator' ? ('operator' as const) : ('user' as const)
      return userId === null ? undefined : { kind: 'session', userId, role }
    },
  })
  return {
    host,
    as:
      (userId, role = 'user') =>
      async (route, body) => {
        const [method = 'GET', path = ''] = route.split(' ')
        const who = { 'x-user': userId, 'x-role': role }
        const sent = {
          body: typeof body === 'string' ? body : JSON.stringify(body),
          headers: { ...who, 'content-type': 'application/json' },
        }
        const answer = await app.request(path, { method, ...(body === undefined ? { headers: who } : sent) })
        const text = await answer.text()
        return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
      },
  }
}
