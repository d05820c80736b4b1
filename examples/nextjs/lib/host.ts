import { createHost, type Host } from 'loadout'
import { createModels } from 'loadout/agents'
import { keyFileRing, nodeDrivers } from 'loadout/node'
import { pglite } from 'loadout/storage/pglite'

const { DATA_DIR: dataDir = '.data', MODEL: model, PRIVATE_NETWORK } = process.env
const open = () =>
  createHost({
    storage: pglite({ dataDir }),
    keyRing: () => keyFileRing(`${dataDir}/keys.json`),
    drivers: nodeDrivers({ stdio: 'off', guard: { privateNetwork: PRIVATE_NETWORK === 'on' } }),
  })
// One for all routes, also when they are loaded anew while somebody works on them.
const kept = globalThis as { loadout?: Host }
kept.loadout ??= open()
export const host = kept.loadout
export const models = createModels({ ...host, model, baseUrls: { anthropic: process.env.MODEL_URL } })
