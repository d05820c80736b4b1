/**
 * Runs users' commands in separate sandboxes (bubblewrap, Linux). A record's command and folder are mapped into the
 * sandbox or refused with a fix. Without bubblewrap no command runs.
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
  /** Folder for downloaded packages. @default a temporary folder of this host */
  dir?: string
  /** Largest package with its dependencies, in bytes. @default 1 GiB */
  packageBytes?: number
  /** Total size of all packages, in bytes; the least recently used are evicted. @default 8 GiB */
  packagesBytes?: number
  limits?: SandboxLimits
  /** npm registry URL. @default the registry of this machine's npm */
  npmRegistry?: string
  /** Python index URL. Without it Python packages are refused. */
  pypiIndex?: string
  /** Hosts of the index's files, if they differ. */
  pypiFileHosts?: readonly string[]
  /**
   * Whether each sandbox gets a cgroup, if possible; `required` refuses commands otherwise. Adds 10 to 30 ms to a
   * start. @default true
   */
  cgroups?: boolean | 'required'
  /** @default 'bwrap' from PATH */
  bwrap?: string
}

export interface SandboxDeps extends SandboxOptions {
  groups: ProcessGroups
  /** Guard for the hosts that users' servers reach. */
  guard: GuardOptions
}

export interface Sandbox {
  /** Returns the process to start for a command line, or throws `stdio-refused`. */
  prepare(line: CommandLine): Promise<ProcessSpec>
  /** Warnings about missing or weaker isolation. */
  warnings(): Promise<string[]>
  close(): Promise<void>
}

const FETCH_MS = 300_000
const GIB = 1024 ** 3
// Runs npm or uv only, and no user code.
const FETCH_LIMITS: SandboxLimits = {
  memoryBytes: 2 * GIB,
  processBytes: 4 * GIB,
  processes: 512,
  fileBytes: 512 * 1024 ** 2,
  scratchBytes: 512 * 1024 ** 2,
  openFiles: 8192,
  cpuSeconds: 300,
}
// A registry on the machine's loopback must use the proxy, because the sandbox has its own loopback.
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
      // The operator chooses the registry, so any address is allowed.
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

/** Maps the host's Node to its path inside; other commands must be visible there. */
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

/** The operator's folder, or a temporary one. */
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

/** Asks the host's npm once, outside the sandbox; no user code runs. */
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
    // Not cached, because the operator may install or configure npm later.
    if (found === undefined) pending = undefined
    return found
  }
}
