/**
 * Commands of users, each in a sandbox of its own (bubblewrap, Linux). What a record asks for is mapped to what is there
 * inside, or refused with what to do; there is no way past it, and without bubblewrap nothing runs at all.
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { HostError } from '../../errors.ts'
import type { GuardOptions } from '../http/guard/guarded-fetch.ts'
import type { ProcessGroups, ProcessSpec } from '../stdio/process-group.ts'
import type { CommandLine } from '../stdio/template.ts'
import { isWorldAccessible } from './availability.ts'
import { createLauncher } from './launch.ts'
import type { SandboxLimits } from './limits.ts'
import { createPackageFolder } from './packages/package-folder.ts'
import { readPackageRun } from './packages/package-run.ts'
import { createPackages, npmBeside, PACKAGES } from './packages/packages.ts'
import { HOME, NODE } from './profile.ts'
import { runOnce } from './run-once.ts'

export interface SandboxOptions {
  /** Where fetched packages are kept. @default a folder that goes with the host */
  dir?: string
  /** What one package may take there in bytes, with all that it needs. @default 1 GiB */
  packageBytes?: number
  /** What all of them may take in bytes: those that nobody uses go first. @default 8 GiB */
  packagesBytes?: number
  limits?: SandboxLimits
  /** Where npm packages come from. @default what the npm of this machine is set to */
  npmRegistry?: string
  /** Where Python packages come from. Without it there are none. */
  pypiIndex?: string
  /** Where the files of that index are, where that is another host. */
  pypiFileHosts?: readonly string[]
  /** Whether the kernel keeps an account of each sandbox, where it can; `required`: or else nothing runs. It takes 10 to 30 ms of a start. @default true */
  cgroups?: boolean | 'required'
  /** @default 'bwrap' in the usual places */
  bwrap?: string
}

export interface SandboxDeps extends SandboxOptions {
  groups: ProcessGroups
  /** The guard of what users' servers reach. */
  guard: GuardOptions
}

export interface Sandbox {
  /** What to start for a command line, or `stdio-refused`. */
  prepare(line: CommandLine): Promise<ProcessSpec>
  /** What is missing on this machine, or weaker than elsewhere. */
  warnings(): Promise<string[]>
  close(): Promise<void>
}

const FETCH_MS = 300_000
const GIB = 1024 ** 3
// What runs is npm or uv, and nothing of a user.
const FETCH_LIMITS: SandboxLimits = {
  memoryBytes: 2 * GIB,
  processBytes: 4 * GIB,
  processes: 512,
  fileBytes: 512 * 1024 ** 2,
  scratchBytes: 512 * 1024 ** 2,
  openFiles: 8192,
  cpuSeconds: 300,
}
// Also on the machine's own loopback, which is not the one inside.
const FETCH_ENV = { NO_PROXY: '' }
const VISIBLE = ['/usr/', '/bin/', '/sbin/', '/opt/loadout/', `${PACKAGES}/`]
const WRITABLE = [HOME, '/tmp']

export function createSandbox(deps: SandboxDeps): Sandbox {
  const { groups, guard, limits = {}, packageBytes = GIB, packagesBytes = 8 * GIB } = deps
  const tempDir = { path: undefined as string | undefined }
  const launcher = createLauncher(groups, deps)
  const packages = createPackages({
    npmRegistry: createRegistryLookup(groups, deps.npmRegistry),
    pypiIndex: deps.pypiIndex,
    pypiFileHosts: deps.pypiFileHosts ?? [],
    node: process.execPath,
    dir: () => packageDir(deps.dir, tempDir),
    folder: createPackageFolder({ packageBytes, packagesBytes }),
    async run(line, binds, signal) {
      // The registry is the operator's choice, so it may be anywhere.
      const anywhere = { ...guard, privateNetwork: true, allow: ['0.0.0.0/0', '::/0'] }
      const inside = { ...line, env: { ...line.env, ...FETCH_ENV } }
      const spec = await launcher.compose(inside, { guard: anywhere, limits: { ...limits, ...FETCH_LIMITS }, binds })
      return runOnce(groups, spec, { timeoutMs: FETCH_MS, signal })
    },
  })
  return {
    async prepare(line) {
      const cwd = insideCwd(line.cwd)
      const run = readPackageRun(line)
      if (!run) return launcher.compose({ ...line, command: insideCommand(line.command), cwd }, { guard, limits })
      await launcher.assertReady()
      const { command, args, bind, release } = await packages.fetch(run)
      try {
        const spec = await launcher.compose({ ...line, command, args, cwd }, { guard, limits, binds: [bind] })
        return { ...spec, onEnd: () => callBoth(spec.onEnd, release) }
      } catch (error) {
        release()
        throw error
      }
    },
    async warnings() {
      const missing = await launcher.assertReady().then(
        () => undefined,
        (error: unknown) => HostError.from(error).line,
      )
      if (missing !== undefined) return [missing]
      return (await launcher.hasCgroups()) ? [] : [NO_CGROUPS_WARNING]
    },
    async close() {
      await launcher.close()
      if (tempDir.path !== undefined) await rm(tempDir.path, { recursive: true, force: true })
    },
  }
}

const NO_CGROUPS_WARNING =
  'The kernel keeps no accounts (cgroups) for this host: a sandbox has limits for each process, and none for its memory as a whole.'

function callBoth(first: (() => void) | undefined, second: () => void): void {
  first?.()
  second()
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
async function packageDir(configured: string | undefined, tempDir: { path: string | undefined }): Promise<string> {
  const mode = 0o711
  if (configured === undefined) {
    tempDir.path ??= await mkdtemp(join(tmpdir(), 'loadout-packages-'))
    await chmod(tempDir.path, mode)
    return tempDir.path
  }
  await mkdir(configured, { recursive: true, mode })
  if (process.getuid?.() !== 0 || isWorldAccessible(configured)) return configured
  throw new HostError('stdio-refused', {
    detail: `The folder of packages is one that only root may enter: ${configured}`,
    action: 'Ask the operator to set LOADOUT_SANDBOX_DIR to a folder that everybody may enter.',
  })
}

const NPM_CONFIG_TIMEOUT_MS = 10_000

/** As the operator's own npm would: it is asked once, outside, and runs nothing of a user. */
function createRegistryLookup(
  groups: ProcessGroups,
  configured: string | undefined,
): () => Promise<string | undefined> {
  let pending: Promise<string | undefined> | undefined
  const queryNpm = async () => {
    const npm = npmBeside(process.execPath)
    if (npm === undefined) return undefined
    const args = [`${npm}/bin/npm-cli.js`, 'config', 'get', 'registry']
    const { output } = await runOnce(
      groups,
      { command: process.execPath, args, env: {} },
      { timeoutMs: NPM_CONFIG_TIMEOUT_MS },
    )
    const url = URL.parse(output.split('\n').at(-1) ?? '')
    return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined
  }
  return async () => {
    if (configured !== undefined) return configured
    pending ??= queryNpm()
    const found = await pending.catch(() => undefined)
    // npm may be installed, or set, until the next time.
    if (found === undefined) pending = undefined
    return found
  }
}
