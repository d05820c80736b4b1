/** The API without a port, over the data folder, for CLI commands without a live server. */
import { createApiKeys } from './auth/api-keys.ts'
import { LOCAL } from './auth/authenticate.ts'
import type { Config } from './config.ts'
import { createApp } from './http/app.ts'
import { modelsOf, openHost } from './open-host.ts'
import { createLog } from './ops/log.ts'

export async function openLocal(config: Config) {
  const host = await openHost(config, createLog('silent'))
  try {
    await host.ready()
  } catch (error) {
    await host.close().catch(() => {})
    throw error
  }
  const app = createApp({
    host,
    apiKeys: createApiKeys(host.storage, host.audit.record),
    models: modelsOf(host, config),
    authenticate: () => LOCAL,
    loopbackOnly: true,
  })
  return { fetch: (request: Request) => app.fetch(request), close: () => host.close() }
}
