/** The host that the settings describe. */
import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createHost, type Host, HostError, type KeyRing, masterKeyRing, type Storage } from 'loadout'
import { keyFileRing, nodeDrivers } from 'loadout/node'
import { pglite } from 'loadout/storage/pglite'
import { postgres } from 'loadout/storage/postgres'
import type { Config } from './config.ts'
import type { Log } from './log.ts'

export async function openHost(config: Config, log: Log): Promise<Host> {
  await makeDataDir(config.dataDir)
  const keyRing = await openKeyRing(config)
  const onListenerError = (err: unknown) => log.error({ err }, 'A listener failed')
  return createHost({
    storage: openStorage(config),
    keyRing,
    drivers: openDrivers(config),
    toolCacheTtlMs: config.toolCacheTtlMs,
    onListenerError,
  })
}

function openStorage({ databaseUrl, dataDir }: Config): Storage {
  return databaseUrl === undefined ? pglite({ dataDir }) : postgres({ url: databaseUrl })
}

// Opened before anything is served: a weak or unsafe key must stop the start, not the first use.
function openKeyRing({ masterKey, dataDir }: Config): Promise<KeyRing> {
  return masterKey === undefined ? keyFileRing(join(dataDir, 'keys.json')) : masterKeyRing(masterKey)
}

function openDrivers({ stdio, privateNetwork, commandEnv, dataDir, proxy, certificates }: Config) {
  return nodeDrivers({
    stdio,
    baseEnv: commandEnv,
    processDir: join(dataDir, 'processes'),
    guard: { privateNetwork, ...(proxy ? { proxy } : {}), ...(certificates === undefined ? {} : { ca: certificates }) },
  })
}

async function makeDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
    .then(() => access(dataDir, constants.W_OK))
    .catch((error: NodeJS.ErrnoException) => {
      throw new HostError('config-invalid', {
        detail: `LOADOUT_DATA_DIR "${dataDir}" cannot be written to (${error.code})`,
        cause: error,
      })
    })
}
