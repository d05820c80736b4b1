/** Environment → settings → a server. The only reader of `process.env`. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { HostError } from 'loadout'
import manifest from '../package.json' with { type: 'json' }
import { readConfig } from './config.ts'
import { startServer } from './serve.ts'

const WEB = fileURLToPath(new URL('../../web/dist', import.meta.url))

try {
  const running = await startServer(readConfig(process.env), {
    webDir: existsSync(WEB) ? WEB : undefined,
    version: manifest.version,
  })
  process.stdout.write(`Loadout is at ${running.url}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      running.close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
} catch (error) {
  if (!HostError.is(error)) throw error
  process.stderr.write(`${error.message}. ${error.action}\n`)
  process.exit(1)
}
