/**
 * Puts a command line into a sandbox: finds out once whether there can be one, opens its way to declared hosts, and lets the
 * kernel keep an account of it. All of that goes when the process does.
 */
import { randomInt } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { HostError } from '../../errors.ts'
import type { CommandLine } from '../fill-template.ts'
import type { GuardOptions } from '../guarded-fetch.ts'
import type { ProcessGroups, ProcessSpec } from '../process-group.ts'
import { assertAvailable } from './availability.ts'
import { createCgroups } from './cgroup.ts'
import { openEgress } from './egress.ts'
import type { SandboxLimits } from './limits.ts'
import { othersMayUse } from './others-may-use.ts'
import { admitted, type Bind, composeSandbox, type Frame, NODE } from './profile.ts'
import { RELAY, RELAY_ENV, RELAY_SOCKET_DIR } from './relay.ts'

export interface Surroundings {
  /** What its hosts are judged by. */
  guard: GuardOptions
  limits: Required<SandboxLimits>
  binds?: readonly Bind[]
}

export interface Launcher {
  /** Throws `stdio-refused` where there can be no sandbox. */
  assertReady(): Promise<void>
  /** The command and its folder are those inside. */
  compose(line: CommandLine, surroundings: Surroundings): Promise<ProcessSpec>
  close(): Promise<void>
}

const CA_FILE = '/etc/loadout-ca.pem'

export interface LauncherOptions {
  bwrap?: string
  cgroups?: boolean
}

export function createLauncher(groups: ProcessGroups, options: LauncherOptions = {}): Launcher {
  const { bwrap = 'bwrap' } = options
  const cgroups = options.cgroups === false ? undefined : createCgroups()
  let available: Promise<void> | undefined

  const frame = async (): Promise<Frame> => {
    // A root host takes a number that nobody has, for each sandbox another.
    const uid = process.getuid?.() === 0 ? randomInt(0x4000_0000, 0x7000_0000) : undefined
    const found = { bwrap, node: nodeFor(uid), uid }
    available ??= assertAvailable(groups, found)
    await available
    return found
  }

  const accounted = async (spec: ProcessSpec, limits: Required<SandboxLimits>): Promise<ProcessSpec> => {
    const account = await cgroups?.open(limits)
    if (!account) return spec
    const onEnd = () => {
      void account.remove()
      spec.onEnd?.()
    }
    return { ...admitted(spec, account.admit), onEnd }
  }

  return {
    async assertReady() {
      await frame()
    },
    async compose(line, { guard, limits, binds = [] }) {
      const made = await frame()
      if (made.uid !== undefined)
        for (const { from, writable } of binds) if (writable) await chown(from, made.uid, made.uid)
      const spec = line.hosts?.length
        ? await withHosts(made, { ...line, hosts: line.hosts }, { guard, limits, binds })
        : composeSandbox(made, { ...line, limits, binds })
      return accounted(spec, limits)
    },
    async close() {
      await cgroups?.close()
    },
  }
}

async function withHosts(
  frame: Frame,
  line: CommandLine & { hosts: readonly string[] },
  { guard, limits, binds = [] }: Surroundings,
): Promise<ProcessSpec> {
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
  return { ...spec, onEnd: () => void egress.close().catch(() => {}) }
}

/** This Node, where whoever runs inside may read it. */
function nodeFor(uid: number | undefined): string | undefined {
  const node = realpathSync(process.execPath)
  return uid === undefined || othersMayUse(node) ? node : undefined
}

function assertNode({ node }: Frame): void {
  if (node !== undefined) return
  throw new HostError('stdio-refused', {
    detail: 'Node is in a folder that only root may enter, so a sandbox cannot use it.',
    action: 'Ask the operator to install Node under /usr, or to run the host as another user than root.',
  })
}
