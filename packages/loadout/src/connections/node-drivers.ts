/** How a Node host reaches servers: commands by the operator's policy, and everything else through the guarded fetch. */

import { parse } from '../schema/json.ts'
import { type StdioTemplateInput, stdioTemplates } from '../schema/toolkit/stdio-template.ts'
import { MAX_RESPONSE_BYTES } from './connection.ts'
import { createDrivers, type Drivers, type OpenCommand } from './drivers.ts'
import { createGuardedFetch, type GuardOptions } from './http/guard/guarded-fetch.ts'
import { httpConnections } from './http/http.ts'
import { createSandbox, type SandboxOptions } from './sandbox/sandbox.ts'
import type { LeftProcess } from './stdio/left-processes.ts'
import { sweepOrphans } from './stdio/orphans.ts'
import type { StdioPolicy } from './stdio/policy.ts'
import { createProcessGroups } from './stdio/process-group.ts'
import { realPath } from './stdio/real-path.ts'
import { directCommand, openCommands } from './stdio/stdio.ts'

export interface NodeDriverOptions {
  /** Who may run commands. @default 'on' */
  stdio?: StdioPolicy
  /** The command lines that the operator prepared. */
  templates?: readonly StdioTemplateInput[]
  /** The sandbox of users' commands, where the policy asks for it. */
  sandbox?: SandboxOptions
  /** What every command gets beside its own environment: PATH and the like. */
  baseEnv?: Readonly<Record<string, string>>
  /** A folder to note running processes in, swept at the next start. */
  processDir?: string
  /** The guard of users' servers, and of what any server names. What the operator sets up may be anywhere. */
  guard?: GuardOptions
  /** The largest answer of a server, over any transport, in decoded bytes. @default 128 MiB */
  maxResponseBytes?: number
  /** How long a command may leave the first question of the new era unanswered before the older one is asked as well. @default 3000 */
  probeMs?: number
  /** Told of processes that a command without a sandbox detached and that outlive it. */
  onLeftProcesses?: (left: readonly LeftProcess[]) => void
  clientVersion?: string
}

const MAX_SOCKETS_PER_HOST = 1024

export function nodeDrivers({
  stdio = 'on',
  templates = [],
  sandbox: sandboxOptions = {},
  baseEnv,
  processDir,
  guard = {},
  maxResponseBytes = guard.maxResponseBytes ?? MAX_RESPONSE_BYTES,
  probeMs,
  onLeftProcesses,
  clientVersion = '0.1.0',
}: NodeDriverOptions = {}): Drivers {
  // More than the pool has places, so that streams that stay open leave room for calls.
  const bounded = { maxSocketsPerHost: MAX_SOCKETS_PER_HOST, ...guard, maxResponseBytes }
  const forUsers = createGuardedFetch(bounded)
  const forApp = createGuardedFetch({ ...bounded, privateNetwork: true })
  const groups = createProcessGroups({ noteDir: processDir, onLeft: onLeftProcesses })
  const sandbox = createSandbox({ ...sandboxOptions, groups, guard })
  const commandOptions = { groups, clientVersion, maxResponseBytes, probeMs }
  const sweeping = processDir === undefined ? Promise.resolve(0) : sweepOrphans(processDir)
  // What a crash left behind goes before anything new starts.
  const afterSweep =
    (open: OpenCommand): OpenCommand =>
    async (...args) => {
      await sweeping.catch(() => 0)
      return open(...args)
    }
  return createDrivers({
    stdioRules: { policy: stdio, templates: parse(stdioTemplates, templates), realPath },
    stdio: {
      direct: afterSweep(openCommands({ ...commandOptions, prepare: directCommand(baseEnv) })),
      sandboxed: afterSweep(openCommands({ ...commandOptions, prepare: sandbox.prepare, installs: true })),
      processes: () => groups.count(),
      warnings: sandbox.warnings,
      async close() {
        await groups.close()
        await sandbox.close()
      },
    },
    remote: {
      user: httpConnections({ ...forUsers, clientVersion }),
      app: httpConnections({ ...forApp, clientVersion }),
    },
    fetch: { user: forUsers.documents, app: forApp.documents },
    assertAllowed: forUsers.assertAllowed,
    async close() {
      await Promise.all([forUsers.close(), forApp.close()])
    },
  })
}
