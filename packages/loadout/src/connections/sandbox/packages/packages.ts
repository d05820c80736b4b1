/**
 * Downloads packages for sandboxes. A sandbox that reaches only the registry writes each package into its own folder
 * with scripts turned off, so that no package code runs during the download. Later runs mount the folder read-only and
 * do not reach the registry. A folder is named by a hash of the request and is either complete or absent. Its version
 * stays until the folder is evicted.
 */
import { createHash, randomUUID } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HostError } from '../../../errors.ts'
import { sanitizeText } from '../../errors.ts'
import type { CommandLine } from '../../stdio/template.ts'
import { type Bind, NODE } from '../profile.ts'
import type { RunOutcome } from '../run-once.ts'
import type { PackageFolder } from './package-folder.ts'
import type { PackageRun } from './package-run.ts'

export const PACKAGES = '/packages'

export interface PackageOptions {
  /** Package folder. A sandbox under another uid must be able to enter it. */
  dir(): Promise<string>
  /** npm registry URL; undefined if none is configured. */
  npmRegistry(): Promise<string | undefined>
  /** Python index URL. */
  pypiIndex: string | undefined
  /** Hosts of the index's files, if they differ. */
  pypiFileHosts: readonly string[]
  node: string | undefined
  folder: PackageFolder
  /** Runs a command in a sandbox that may reach `hosts`. */
  run(line: FetchLine, binds: readonly Bind[], signal: AbortSignal): Promise<RunOutcome>
}

export interface Fetched {
  command: string
  args: readonly string[]
  bind: Bind
  /** Ends the use of the package. */
  release(): void
}

const MAX_MANIFEST_BYTES = 1024 * 1024
const MAX_OUTPUT_LENGTH = 400

export function createPackages(options: PackageOptions) {
  const pending = new Map<string, Promise<string>>()
  /** Concurrent requests share one download. */
  const ensureFetched = async (run: PackageRun): Promise<string> => {
    const registry = await resolveRegistry(options, run)
    const key = createHash('sha256').update(`${run.from} ${run.spec} ${registry}`).digest('hex')
    const wanted = { ...run, registry }
    const fetching = pending.get(key) ?? fetchOnce(options, wanted, key).finally(() => pending.delete(key))
    pending.set(key, fetching)
    return fetching
  }
  return {
    async fetch(run: PackageRun): Promise<Fetched> {
      const folder = await ensureFetched(run)
      const release = options.folder.markInUse(folder)
      try {
        const command = `${PACKAGES}/${await resolveCommand(folder, run)}`
        return { command, args: run.args, bind: { from: folder, to: PACKAGES }, release }
      } catch (error) {
        release()
        throw error
      }
    },
  }
}

async function resolveCommand(folder: string, { from, program, name }: PackageRun): Promise<string> {
  if (from === 'pypi') return `bin/${program}`
  return `node_modules/.bin/${program ?? (await resolveProgram(folder, name))}`
}

async function resolveRegistry({ npmRegistry, pypiIndex }: PackageOptions, { from }: PackageRun): Promise<string> {
  const registry = from === 'npm' ? await npmRegistry() : pypiIndex
  const setting = from === 'npm' ? 'LOADOUT_NPM_REGISTRY' : 'LOADOUT_PYPI_INDEX'
  if (registry !== undefined) return registry
  throw new HostError('stdio-refused', {
    detail: 'It is not set where packages for sandboxes come from.',
    action: `Ask the operator to set ${setting}, or use a remote server (a URL).`,
  })
}

type WantedPackage = PackageRun & { registry: string }

async function fetchOnce(options: PackageOptions, run: WantedPackage, key: string): Promise<string> {
  const dir = await options.dir()
  const folder = join(dir, key)
  if (await stat(folder).catch(() => undefined)) return folder
  const line = run.from === 'npm' ? npmLine(options, run) : uvLine(options, run)
  const releaseSpace = await options.folder.reserve(dir)
  const draft = join(dir, `new-${randomUUID()}`)
  try {
    await mkdir(draft, { mode: 0o755 })
    const { signal, stop } = options.folder.watch(draft)
    const binds = [{ from: draft, to: PACKAGES, writable: true }, ...line.binds]
    const outcome = await options.run(line, binds, signal).finally(stop)
    if (signal.aborted) throw tooLarge(run)
    if (outcome.code !== 0) throw notFetched(run, outcome)
    // Another process may have finished first; its folder is equivalent.
    await rename(draft, folder).catch(async (error) => {
      if (!(await stat(folder).catch(() => undefined))) throw error
    })
    return folder
  } finally {
    await rm(draft, { recursive: true, force: true })
    releaseSpace()
  }
}

type FetchLine = CommandLine & { hosts: readonly string[]; binds: readonly Bind[] }

function npmLine({ node }: PackageOptions, { spec, registry }: WantedPackage): FetchLine {
  const npm = node === undefined ? undefined : npmBeside(node)
  if (npm === undefined)
    throw new HostError('stdio-refused', {
      detail: 'Packages cannot be fetched: npm is not installed where a sandbox can see it.',
      action: 'Ask the operator to install npm under /usr, or use a remote server (a URL).',
    })
  const flags = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--no-package-lock',
    '--omit=dev',
  ]
  const location = ['--prefix', PACKAGES, '--cache', '/tmp/npm', '--registry', registry]
  return {
    command: NODE,
    args: ['/opt/loadout/npm/bin/npm-cli.js', 'install', ...flags, ...location, '--', spec],
    env: {},
    hosts: [hostAndPort(registry)],
    binds: [{ from: npm, to: '/opt/loadout/npm' }],
  }
}

const NPM_PATHS = ['/usr/local/lib/node_modules/npm', '/usr/lib/node_modules/npm', '/usr/share/nodejs/npm']

export const npmBeside = (node: string) =>
  [join(dirname(node), '../lib/node_modules/npm'), ...NPM_PATHS].find((path) =>
    existsSync(join(path, 'bin/npm-cli.js')),
  )

const UV_PATHS = ['/usr/local/bin/uv', '/usr/bin/uv']

function uvLine({ pypiFileHosts }: PackageOptions, { spec, registry }: WantedPackage): FetchLine {
  const uv = UV_PATHS.find((path) => existsSync(path))
  if (uv === undefined)
    throw new HostError('stdio-refused', {
      detail: 'Python packages cannot be fetched: uv is not installed in /usr/local/bin or /usr/bin.',
      action: 'Ask the operator to install uv there, or use a remote server (a URL).',
    })
  return {
    command: uv,
    // Wheels only, because building a package runs its code.
    args: ['tool', 'install', '--no-build', '--no-config', '--default-index', registry, '--', spec],
    env: {
      UV_TOOL_DIR: `${PACKAGES}/tools`,
      UV_TOOL_BIN_DIR: `${PACKAGES}/bin`,
      UV_CACHE_DIR: '/tmp/uv',
      UV_LINK_MODE: 'copy',
      UV_PYTHON_DOWNLOADS: 'never',
    },
    hosts: [hostAndPort(registry), ...pypiFileHosts],
    binds: [],
  }
}

function hostAndPort(text: string): string {
  const { hostname, port, protocol } = new URL(text)
  return `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`
}

/** Same choice as npx: the only program, or the one with the package's name. */
async function resolveProgram(folder: string, name: string): Promise<string> {
  const { bin } = await readManifest(join(folder, 'node_modules', name, 'package.json'))
  const short = name.split('/').at(-1) as string
  const programs = typeof bin === 'object' && bin !== null ? Object.keys(bin) : typeof bin === 'string' ? [short] : []
  const program = programs.length === 1 ? programs[0] : programs.find((candidate) => candidate === short)
  if (program !== undefined && /^[\w][\w.-]*$/.test(program)) return program
  throw new HostError('spawn-failed', {
    detail: `The package "${name}" has ${programs.length === 0 ? 'no program' : 'several programs'} to run.`,
    action: 'Name one: `npx -p package program`.',
  })
}

// The folder is untrusted, so no link is followed and the size is bounded.
async function readManifest(path: string): Promise<{ bin?: unknown }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_MANIFEST_BYTES), 0, MAX_MANIFEST_BYTES, 0)
    return JSON.parse(buffer.toString('utf8', 0, bytesRead)) as { bin?: unknown }
  } catch (error) {
    throw new HostError('spawn-failed', { detail: 'The manifest of the package cannot be read.', cause: error })
  } finally {
    await file.close()
  }
}

const tooLarge = ({ spec }: PackageRun) =>
  new HostError('stdio-refused', {
    detail: `The package "${spec}" is larger than a package may be here.`,
    action: 'Use a smaller one, or a remote server (a URL).',
  })

function notFetched({ spec }: PackageRun, { output }: RunOutcome): HostError {
  return new HostError('spawn-failed', {
    detail: `The package "${spec}" could not be fetched. ${sanitizeText(output.slice(-MAX_OUTPUT_LENGTH))}`,
    action: 'Check the name and version of the package, and that the registry can be reached.',
  })
}
