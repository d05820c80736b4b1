/** How a Node host reaches servers: commands by the operator's policy, and everything else through the guarded fetch. */
import { createDrivers, type Drivers, type StdioPolicy } from './drivers.ts'
import { createGuardedFetch, type GuardOptions } from './guarded-fetch.ts'
import { httpConnections } from './http.ts'
import { sweepOrphans } from './orphans.ts'
import { stdioConnections } from './stdio.ts'

export interface NodeDriverOptions {
  /** Who may run commands. @default 'on' */
  stdio?: StdioPolicy
  /** What every command gets beside its own environment: PATH and the like. */
  baseEnv?: Readonly<Record<string, string>>
  /** A folder to note running processes in, swept at the next start. */
  processDir?: string
  /** The guard of users' servers. What the operator sets up may be anywhere. */
  guard?: GuardOptions
  clientVersion?: string
}

const MAX_SOCKETS_PER_HOST = 1024

export function nodeDrivers({
  stdio = 'on',
  baseEnv,
  processDir,
  guard = {},
  clientVersion = '0.1.0',
}: NodeDriverOptions = {}): Drivers {
  // More than the pool has places, so that streams that stay open leave room for calls.
  const bounded = { maxSocketsPerHost: MAX_SOCKETS_PER_HOST, ...guard }
  const forUsers = createGuardedFetch(bounded)
  const forApp = createGuardedFetch({ ...bounded, privateNetwork: true })
  const processes = stdioConnections({ clientVersion, noteDir: processDir, ...(baseEnv ? { baseEnv } : {}) })
  const swept = processDir === undefined ? Promise.resolve(0) : sweepOrphans(processDir)
  return createDrivers({
    stdioPolicy: stdio,
    stdio: {
      // What a crash left behind goes before anything new starts.
      open: async (target, hooks) => {
        await swept.catch(() => 0)
        return processes.open(target, hooks)
      },
      processes: processes.processes,
      close: processes.close,
    },
    remote: {
      user: httpConnections({ ...forUsers, clientVersion }),
      app: httpConnections({ ...forApp, clientVersion }),
    },
    async close() {
      await Promise.all([forUsers.close(), forApp.close()])
    },
  })
}
