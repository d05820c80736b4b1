/**
 * Starts a command line in a sandbox: checks availability once, opens egress to the declared hosts, and creates a
 * cgroup. All of that is cleaned up when the process ends.
 */
import { randomInt } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { HostError } from '../../errors.ts'
import type { GuardOptions } from '../http/guard/guarded-fetch.ts'
import type { ProcessGroups, ProcessSpec } from '../stdio/process-group.ts'
import type { CommandLine } from '../stdio/template.ts'
import { assertAvailable, isWorldAccessible } from './availability.ts'
import { type Cgroup, createCgroups } from './cgroup.ts'
import { limitsFor, type SandboxLimits } from './limits.ts'
import { type Egress, openEgress, sweepSockets } from './network/egress.ts'
import { RELAY, RELAY_ENV, RELAY_SOCKET_DIR } from './network/relay.ts'
import { type Bind, composeSandbox, type Frame, NODE, withAdmission } from './profile.ts'

export interface LaunchOptions {
  /** Guard for the declared hosts. */
  guard: GuardOptions
  /** Limits that differ from the defaults. */
  limits: SandboxLimits
  binds?: readonly Bind[]
}

export interface Launcher {
  /** Throws `stdio-refused` if no sandbox can start. */
  assertReady(): Promise<void>
  /** `line` uses paths inside the sandbox. */
  compose(line: CommandLine, options: LaunchOptions): Promise<ProcessSpec>
  /** Whether cgroups work here, so that a sandbox has limits as a whole. */
  hasCgroups(): Promise<boolean>
  close(): Promise<void>
}

const CA_FILE = '/etc/loadout-ca.pem'

export interface LauncherOptions {
  bwrap?: string
  cgroups?: boolean | 'required'
}

export function createLauncher(groups: ProcessGroups, options: LauncherOptions = {}): Launcher {
  const { bwrap = 'bwrap' } = options
  const cgroups = options.cgroups === false ? undefined : createCgroups()
  const cleanups = new Set<Promise<unknown>>()
  let available: Promise<void> | undefined
  let swept: Promise<void> | undefined

  const frame = async (): Promise<Frame> => {
    // A root host runs each sandbox under a random unused uid.
    const uid = process.getuid?.() === 0 ? randomInt(0x4000_0000, 0x7000_0000) : undefined
    const detected = { bwrap, node: nodeFor(uid), uid }
    swept ??= sweepSockets()
    // A failed check is not cached, because the operator may fix it.
    available ??= assertAvailable(groups, detected).catch((error) => {
      available = undefined
      throw error
    })
    await available
    return detected
  }

  /** Runs `cleanUp` after the sandbox ends; `close` waits for it. */
  const cleanupWith = (cleanUp: () => Promise<unknown>) => () => {
    const cleaning = cleanUp().catch(() => {})
    cleanups.add(cleaning)
    void cleaning.finally(() => cleanups.delete(cleaning))
  }

  const openCgroup = async (limits: SandboxLimits): Promise<Cgroup | undefined> => {
    const cgroup = await cgroups?.open(limitsFor(limits, true))
    if (!cgroup && options.cgroups === 'required') throw cgroupsUnavailable()
    return cgroup
  }

  return {
    async assertReady() {
      await frame()
    },
    async compose(line, { guard, limits: requested, binds = [] }) {
      const sandboxFrame = await frame()
      if (sandboxFrame.uid !== undefined)
        for (const { from, writable } of binds) if (writable) await chown(from, sandboxFrame.uid, sandboxFrame.uid)
      const cgroup = await openCgroup(requested)
      const limits = limitsFor(requested, cgroup !== undefined)
      try {
        const { spec, egress } = line.hosts?.length
          ? await withHosts(sandboxFrame, { ...line, hosts: line.hosts }, { guard, limits, binds })
          : { spec: composeSandbox(sandboxFrame, { ...line, limits, binds }), egress: undefined }
        const onEnd = cleanupWith(async () => Promise.all([cgroup?.remove(), egress?.close()]))
        return { ...(cgroup ? withAdmission(spec, cgroup.admit) : spec), onEnd }
      } catch (error) {
        await cgroup?.remove()
        throw error
      }
    },
    async hasCgroups() {
      const cgroup = await cgroups?.open(limitsFor({}, true))
      await cgroup?.remove()
      return cgroup !== undefined
    },
    async close() {
      await Promise.all([swept, ...cleanups])
      await cgroups?.close()
    },
  }
}

const cgroupsUnavailable = () =>
  new HostError('stdio-refused', {
    detail: 'The kernel keeps no accounts (cgroups) for this host, and the operator wants them for every sandbox.',
    action:
      'Ask the operator to delegate a part of the cgroup tree to it (`Delegate=yes` in its systemd unit), or to leave LOADOUT_SANDBOX_CGROUPS away.',
  })

async function withHosts(
  frame: Frame,
  line: CommandLine & { hosts: readonly string[] },
  { guard, limits, binds = [] }: LaunchOptions & { limits: Required<SandboxLimits> },
): Promise<{ spec: ProcessSpec; egress: Egress }> {
  assertNode(frame)
  const { ca } = guard
  const egress = await openEgress({ hosts: line.hosts, guard, uid: frame.uid })
  const spec = composeSandbox(frame, {
    command: NODE,
    args: ['-e', RELAY, '--', line.command, ...line.args],
    env: { ...RELAY_ENV, ...(ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: CA_FILE }), ...line.env },
    cwd: line.cwd,
    files: ca === undefined ? {} : { [CA_FILE]: ca },
    binds: [...binds, { from: egress.dir, to: RELAY_SOCKET_DIR }],
    limits,
  })
  return { spec, egress }
}

/** Path of this Node, if the sandbox's uid may read it. */
function nodeFor(uid: number | undefined): string | undefined {
  const node = realpathSync(process.execPath)
  return uid === undefined || isWorldAccessible(node) ? node : undefined
}

function assertNode({ node }: Frame): void {
  if (node !== undefined) return
  throw new HostError('stdio-refused', {
    detail: 'Node is in a folder that only root may enter, so a sandbox cannot use it.',
    action: 'Ask the operator to install Node under /usr, or to run the host as another user than root.',
  })
}
