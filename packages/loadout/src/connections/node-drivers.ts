/** Drivers of a Node host: commands by the operator's policy, remote servers through the guarded fetch. */

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
  /** Policy for users' commands. @default 'on' */
  stdio?: StdioPolicy
  /** The operator's command templates. */
  templates?: readonly StdioTemplateInput[]
  /** Sandbox for users' commands, if the policy requires it. */
  sandbox?: SandboxOptions
  /** Environment of every command, for example PATH. */
  baseEnv?: Readonly<Record<string, string>>
  /** Folder with notes of running processes; the next start ends leftovers. */
  processDir?: string
  /** Guard for users' servers and for URLs that servers name. The operator's servers are not restricted. */
  guard?: GuardOptions
  /** Largest response over any transport, in decoded bytes. @default 128 MiB */
  maxResponseBytes?: number
  /** Milliseconds until `initialize` is sent in addition to an unanswered `server/discover`. @default 3000 */
  probeMs?: number
  /** Called with detached processes that outlive an unsandboxed command. */
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
  // More sockets than the pool has connections, so that open streams leave room for calls.
  const bounded = { maxSocketsPerHost: MAX_SOCKETS_PER_HOST, ...guard, maxResponseBytes }
  const forUsers = createGuardedFetch(bounded)
  const forApp = createGuardedFetch({ ...bounded, privateNetwork: true })
  const groups = createProcessGroups({ noteDir: processDir, onLeft: onLeftProcesses })
  const sandbox = createSandbox({ ...sandboxOptions, groups, guard })
  const commandOptions = { groups, clientVersion, maxResponseBytes, probeMs }
  const sweeping = processDir === undefined ? Promise.resolve(0) : sweepOrphans(processDir)
  // Leftovers of a crash end before a new command starts.
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
