/**
 * Puts a command line into a sandbox: finds out once whether there can be one, opens its way to declared hosts, and lets the
 * kernel keep an account of it. All of that goes when the process does.
 */
import { randomInt } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { HostError } from '../../errors.ts'
import type { GuardOptions } from '../http/guard/guarded-fetch.ts'
import type { ProcessGroups, ProcessSpec } from '../stdio/process-group.ts'
import type { CommandLine } from '../stdio/template.ts'
import { assertAvailable, othersMayUse } from './availability.ts'
import { type Cgroup, createCgroups } from './cgroup.ts'
import { limitsFor, type SandboxLimits } from './limits.ts'
import { type Egress, openEgress, sweepSockets } from './network/egress.ts'
import { RELAY, RELAY_ENV, RELAY_SOCKET_DIR } from './network/relay.ts'
import { admitted, type Bind, composeSandbox, type Frame, NODE } from './profile.ts'

export interface LaunchOptions {
  /** What its hosts are judged by. */
  guard: GuardOptions
  /** Those that are not as usual. */
  limits: SandboxLimits
  binds?: readonly Bind[]
}

export interface Launcher {
  /** Throws `stdio-refused` where there can be no sandbox. */
  assertReady(): Promise<void>
  /** The command and its folder are those inside. */
  compose(line: CommandLine, surroundings: LaunchOptions): Promise<ProcessSpec>
  /** Whether the kernel keeps accounts of sandboxes here, so that all of one has a limit. */
  hasAccounts(): Promise<boolean>
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
  const ends = new Set<Promise<unknown>>()
  let available: Promise<void> | undefined
  let swept: Promise<void> | undefined

  const frame = async (): Promise<Frame> => {
    // A root host takes a number that nobody has, for each sandbox another.
    const uid = process.getuid?.() === 0 ? randomInt(0x4000_0000, 0x7000_0000) : undefined
    const found = { bwrap, node: nodeFor(uid), uid }
    swept ??= sweepSockets()
    // What was missing may be there the next time.
    available ??= assertAvailable(groups, found).catch((error) => {
      available = undefined
      throw error
    })
    await available
    return found
  }

  /** Told when a sandbox is gone; `close` waits for what is then taken away. */
  const whenGone = (take: () => Promise<unknown>) => () => {
    const taking = take().catch(() => {})
    ends.add(taking)
    void taking.finally(() => ends.delete(taking))
  }

  const accountFor = async (limits: SandboxLimits): Promise<Cgroup | undefined> => {
    const account = await cgroups?.open(limitsFor(limits, true))
    if (!account && options.cgroups === 'required') throw noAccounts()
    return account
  }

  return {
    async assertReady() {
      await frame()
    },
    async compose(line, { guard, limits: given, binds = [] }) {
      const made = await frame()
      if (made.uid !== undefined)
        for (const { from, writable } of binds) if (writable) await chown(from, made.uid, made.uid)
      const account = await accountFor(given)
      const limits = limitsFor(given, account !== undefined)
      try {
        const { spec, egress } = line.hosts?.length
          ? await withHosts(made, { ...line, hosts: line.hosts }, { guard, limits, binds })
          : { spec: composeSandbox(made, { ...line, limits, binds }), egress: undefined }
        const onEnd = whenGone(async () => Promise.all([account?.remove(), egress?.close()]))
        return { ...(account ? admitted(spec, account.admit) : spec), onEnd }
      } catch (error) {
        await account?.remove()
        throw error
      }
    },
    async hasAccounts() {
      const account = await cgroups?.open(limitsFor({}, true))
      await account?.remove()
      return account !== undefined
    },
    async close() {
      await Promise.all([swept, ...ends])
      await cgroups?.close()
    },
  }
}

const noAccounts = () =>
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
