import { masterKeyRing } from '@loadout/core'
import { createModels } from '@loadout/core/agents'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { postgres } from '@loadout/core/storage/postgres'

const { DATABASE_URL: url, MASTER_KEY = '', MODEL: model, MODEL_URL: anthropic, PRIVATE_NETWORK } = process.env
const open = () =>
  createServices({
    // Without a database everything is in memory: enough for a first look.
    ...(url ? { storage: postgres({ url }), keyRing: () => masterKeyRing(MASTER_KEY) } : {}),
    drivers: nodeDrivers({ stdio: 'off', guard: { privateNetwork: PRIVATE_NETWORK === 'on' } }),
  })
// One for all routes, also when they are loaded anew while somebody works on them.
const kept = globalThis as { loadout?: HostServices }
kept.loadout ??= open()
export const host = kept.loadout
export const models = createModels({ ...host, model, baseUrls: { anthropic } })
