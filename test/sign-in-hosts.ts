/** Real hosts and servers that require a sign-in, closed at the end of each test. */
import { rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices, type ServiceOptions } from '@loadout/core/services'
import { afterEach } from 'vitest'
import { callbackOf, follow, type OAuthRules, OAuthServer } from './oauth-server.ts'

export const REDIRECT = 'http://127.0.0.1:9/api/oauth/callback'
export const ANN = { tier: 'user', userId: 'ann' } as const

export function signInHosts() {
  let open: Array<{ close(): Promise<void> }> = []
  afterEach(async () => {
    await Promise.all(open.map((one) => one.close()))
    open = []
  })
  return {
    async server(rules: Partial<OAuthRules> = {}, address?: string): Promise<OAuthServer> {
      const started = await OAuthServer.start(rules, address)
      open.push(started)
      return started
    },
    hostOf(options: ServiceOptions = {}): HostServices {
      const host = createServices({
        drivers: nodeDrivers({ guard: { privateNetwork: true } }),
        policy: [rule('*', 'allow')],
        signIn: { redirectUrl: REDIRECT },
        ...options,
      })
      open.push(host)
      return host
    },
  }
}

/** The toolkit `mail`, of Ann. */
export async function register(host: HostServices, url: string, extra: object = {}) {
  await host.toolkits.register({ name: 'mail', url, ...extra }, ANN)
}

export async function call(host: HostServices, userId = 'ann', asked = '') {
  const args = asked === '' ? {} : { asked }
  const request = { userId, toolkit: 'mail', tool: 'whoami', arguments: args, caller: { type: 'direct' } as const }
  return host.calls.start(request).outcome
}

export type Outcome = Awaited<ReturnType<typeof call>>

export const textOf = (outcome: Outcome) =>
  'content' in outcome ? outcome.content[0]?.text : `${outcome.status} ${outcome.error.code} ${outcome.error.message}`

export const linkOf = (outcome: Outcome) => ('error' in outcome ? outcome.error.action : '')

export async function signIn(host: HostServices, userId = 'ann', login = userId): Promise<void> {
  const { url } = await host.signIns.start(userId, 'mail')
  await host.signIns.finish(callbackOf(await follow(url, login)), { userId })
}
