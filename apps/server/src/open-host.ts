/** The host that the settings describe. */
import { join } from 'node:path'
import { createHost, type Host, type KeyRing, masterKeyRing, type Storage } from 'loadout'
import { keyFileRing } from 'loadout/node'
import { pglite } from 'loadout/storage/pglite'
import { postgres } from 'loadout/storage/postgres'
import type { Config } from './config.ts'
import type { Log } from './log.ts'

export async function openHost(config: Config, log: Log): Promise<Host> {
  const keyRing = await openKeyRing(config)
  const onListenerError = (err: unknown) => log.error({ err }, 'A listener failed')
  return createHost({ storage: openStorage(config), keyRing, onListenerError })
}

function openStorage({ databaseUrl, dataDir }: Config): Storage {
  return databaseUrl === undefined ? pglite({ dataDir }) : postgres({ url: databaseUrl })
}

// Opened before anything is served: a weak or unsafe key must stop the start, not the first use.
function openKeyRing({ masterKey, dataDir }: Config): Promise<KeyRing> {
  return masterKey === undefined ? keyFileRing(join(dataDir, 'keys.json')) : masterKeyRing(masterKey)
}
