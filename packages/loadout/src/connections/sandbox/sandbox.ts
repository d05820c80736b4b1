/**
 * Commands of users, each in a sandbox of its own (bubblewrap, Linux). What a record asks for is mapped to what is there
 * inside, or refused with what to do; there is no way past it, and without bubblewrap nothing runs at all.
 */
import { randomInt } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { HostError } from '../../errors.ts'
import type { CommandLine } from '../fill-template.ts'
import type { GuardOptions } from '../guarded-fetch.ts'
import type { ProcessGroups, ProcessSpec } from '../process-group.ts'
import { assertAvailable } from './availability.ts'
import { openEgress } from './egress.ts'
import { DEFAULT_LIMITS, type SandboxLimits } from './limits.ts'
import { readPackageRun } from './package-run.ts'
import { createPackages, PACKAGES } from './packages.ts'
import { composeSandbox, type Frame, HOME, type Inside, NODE } from './profile.ts'
import { RELAY, RELAY_ENV, RELAY_SOCKET_DIR } from './relay.ts'
import { runOnce } from './run-once.ts'

export interface SandboxOptions {
  /** Where fetched packages are kept. @default a folder that goes with the host */
  dir?: string
  limits?: SandboxLimits
  /** @default https://registry.example */
  npmRegistry?: string
  /** @default https://pypi.example/simple */
  pypiIndex?: string
  /** @default 'bwrap' in the usual places */
  bwrap?: string
}

export interface SandboxParts extends SandboxOptions {
  groups: ProcessGroups
  /** The guard of what users' servers reach. */
  guard: GuardOptions
}

export interface Sandbox {
  /** What to start for a command line, or `stdio-refused`. */
  prepare(line: CommandLine): Promise<ProcessSpec>
  close(): Promise<void>
}

const FETCH_MS = 300_000
const FETCH_LIMITS: SandboxLimits = {
  memoryBytes: 2 * 1024 ** 3,
  fileBytes: 512 * 1024 ** 2,
  scratchBytes: 512 * 1024 ** 2,
  openFiles: 8192,
  cpuSeconds: 300,
}
// Also on the machine's own loopback, which is not the one inside.
const FETCH_ENV = { NO_PROXY: '' }
const CA_FILE = '/etc/loadout-ca.pem'
const VISIBLE = ['/usr/', '/bin/', '/sbin/', '/opt/loadout/', `${PACKAGES}/`]
const WRITABLE = [HOME, '/tmp']

export function createSandbox(parts: SandboxParts): Sandbox {
  const limits = { ...DEFAULT_LIMITS, ...parts.limits }
  const own = { made: undefined as string | undefined }
  let available: Promise<void> | undefined

  /** One that can be used here. A root host takes a number that nobody has, for each sandbox another. */
  const frame = async (): Promise<Frame> => {
    const uid = process.getuid?.() === 0 ? randomInt(0x4000_0000, 0x7000_0000) : undefined
    const found = { bwrap: parts.bwrap ?? 'bwrap', node: nodeFor(uid), uid }
    available ??= assertAvailable(parts.groups, found)
    await available
    return found
  }

  const compose = async (line: CommandLine, guard: GuardOptions, given: Pick<Inside, 'binds' | 'limits'>) => {
    const made = await frame()
    const { uid } = made
    if (uid !== undefined) for (const { from, writable } of given.binds ?? []) if (writable) await chown(from, uid, uid)
    const inside = { ...given, command: line.command, args: line.args, env: line.env, cwd: line.cwd }
    if (!line.hosts?.length) return composeSandbox(made, inside)
    assertNode(made)
    const egress = await openEgress({ hosts: line.hosts, guard, uid })
    const spec = composeSandbox(made, {
      ...inside,
      command: NODE,
      args: ['-e', RELAY, '--', line.command, ...line.args],
      env: { ...RELAY_ENV, ...(guard.ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: CA_FILE }), ...line.env },
      files: guard.ca === undefined ? {} : { [CA_FILE]: guard.ca },
      binds: [...(given.binds ?? []), { from: egress.dir, to: RELAY_SOCKET_DIR }],
    })
    return { ...spec, onEnd: () => void egress.close().catch(() => {}) }
  }

  const packages = createPackages({
    npmRegistry: parts.npmRegistry ?? 'https://registry.example',
    pypiIndex: parts.pypiIndex ?? 'https://pypi.example/simple',
    pypiFileHosts: parts.pypiIndex === undefined ? ['files.example'] : [],
    node: process.execPath,
    dir: () => packageDir(parts.dir, own),
    async run(given, binds) {
      const line = { ...given, env: { ...given.env, ...FETCH_ENV } }
      // The registry is the operator's choice, so it may be anywhere.
      const guard = { ...parts.guard, privateNetwork: true, allow: ['0.0.0.0/0', '::/0'] }
      return runOnce(
        parts.groups,
        await compose(line, guard, { binds, limits: { ...limits, ...FETCH_LIMITS } }),
        FETCH_MS,
      )
    },
  })

  return {
    async prepare(line) {
      const cwd = insideCwd(line.cwd)
      const run = readPackageRun(line)
      if (!run) return compose({ ...line, command: insideCommand(line.command), cwd }, parts.guard, { limits })
      await frame()
      const { command, args, bind } = await packages.fetch(run)
      return compose({ ...line, command, args, cwd }, parts.guard, { binds: [bind], limits })
    },
    async close() {
      if (own.made !== undefined) await rm(own.made, { recursive: true, force: true })
    },
  }
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

/** Whether everybody may enter the folder or run the program, and reach it. */
function othersMayUse(path: string): boolean {
  const may = (statSync(path).mode & 0o001) !== 0
  return may && (dirname(path) === path || othersMayUse(dirname(path)))
}

/** As the record says, where that is inside. Our own Node is there under another path. */
function insideCommand(command: string): string {
  if (command === process.execPath) return NODE
  if (!command.includes('/')) return command
  if (VISIBLE.some((root) => posix.normalize(command).startsWith(root))) return command
  throw new HostError('stdio-refused', {
    detail: 'The command is a file of this machine, which a sandbox does not see.',
    action: 'Give the name of a program that is installed under /usr, or of a package (`npx -y name@version`).',
  })
}

function insideCwd(cwd: string | undefined): string | undefined {
  if (cwd === undefined) return undefined
  const path = posix.normalize(cwd.startsWith('/') ? cwd : `${HOME}/${cwd}`)
  if (WRITABLE.some((root) => path === root || path.startsWith(`${root}/`))) return path
  throw new HostError('stdio-refused', {
    detail: 'The folder (`cwd`) is one of this machine, which a sandbox does not see.',
    action: `Leave it out, or give one below ${HOME}: it is empty, and goes with the process.`,
  })
}

/** The operator's folder, or one for this host alone. */
async function packageDir(given: string | undefined, own: { made: string | undefined }): Promise<string> {
  const mode = 0o711
  if (given === undefined) {
    own.made ??= await mkdtemp(join(tmpdir(), 'loadout-packages-'))
    await chmod(own.made, mode)
    return own.made
  }
  await mkdir(given, { recursive: true, mode })
  if (process.getuid?.() !== 0 || othersMayUse(given)) return given
  throw new HostError('stdio-refused', {
    detail: `The folder of packages is one that only root may enter: ${given}`,
    action: 'Ask the operator to set LOADOUT_SANDBOX_DIR to a folder that everybody may enter.',
  })
}
