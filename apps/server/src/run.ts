/** Runs a server in the foreground: prints its URL and stops cleanly on a signal. */
import { HostError } from '@loadout/core'
import manifest from '../package.json' with { type: 'json' }
import { configFromEnvironment } from './config.ts'
import { startServer } from './serve.ts'
import { webFolder } from './web.ts'

/**
 * Starts with the environment settings and `overrides`. An invalid setting prints one line to stderr, with exit code
 * 1.
 */
export async function run(overrides: Record<string, string | undefined> = {}): Promise<void> {
  try {
    const options = { webDir: webFolder, version: manifest.version }
    const running = await startServer(configFromEnvironment(overrides), options)
    process.stdout.write(`Loadout is at ${running.url}\n`)
    if (running.setup) process.stdout.write(formatSetupMessage(running.setup))
    const stop = () =>
      running.close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  } catch (error) {
    if (!HostError.is(error)) throw error
    process.stderr.write(`${error.line}\n`)
    process.exit(1)
  }
}

function formatSetupMessage({ url, expiresAt }: { url: string; expiresAt: Date }): string {
  return `Nobody operates it yet. Become its first operator, once and before ${expiresAt.toISOString()}: ${url}\n`
}
