import { createHost, type Host, masterKeyRing } from '@loadout/core'
import { createModels } from '@loadout/core/agents'
import { nodeDrivers } from '@loadout/core/node'
import { postgres } from '@loadout/core/storage/postgres'

const { DATABASE_URL: url, MASTER_KEY = '', MODEL: model, MODEL_URL: anthropic, PRIVATE_NETWORK } = process.env
const open = () =>
  createHost({
    // Without a database everything is in memory.
    ...(url ? { storage: postgres({ url }), keyRing: () => masterKeyRing(MASTER_KEY) } : {}),
    drivers: nodeDrivers({ stdio: 'off', guard: { privateNetwork: PRIVATE_NETWORK === 'on' } }),
  })
// All routes share one host, also after a hot reload.
const shared = globalThis as { loadout?: Host }
shared.loadout ??= open()
export const host = shared.loadout
export const models = createModels({ host, model, baseUrls: { anthropic } })
