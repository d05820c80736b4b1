import { createHost, masterKeyRing } from '@loadout/core'
import { createModels } from '@loadout/core/agents/models'
import { nodeDrivers } from '@loadout/core/node'
import { postgres } from '@loadout/core/storage/postgres'
import { type App, createApp } from '@loadout/server'
import { userOf } from './session'

const { DATABASE_URL: url, MASTER_KEY = '', MODEL: model, MODEL_URL: anthropic, PRIVATE_NETWORK } = process.env

function open() {
  const storage = url ? { storage: postgres({ url }), keyRing: () => masterKeyRing(MASTER_KEY) } : {} // else in memory
  const guard = { privateNetwork: PRIVATE_NETWORK === 'on' }
  const host = createHost({ ...storage, drivers: nodeDrivers({ stdio: 'off', guard }) })
  const models = createModels({ host, model, baseUrls: { anthropic } })
  return createApp({ host, models, authenticate: userOf, basePath: '/tools' })
}
// Hot reload evaluates this module again; the host and its connections stay.
const cache = globalThis as { loadout?: App }
cache.loadout ??= open()
export const loadout = cache.loadout
