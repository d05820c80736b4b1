/** Installs the packed packages and the example apps in an empty folder, as a user does. */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packPackages } from '../../scripts/build/pack.ts'
import { ROOT } from '../program-path.ts'
import { APPS } from './apps.ts'

const run = promisify(execFile)

export interface Installed {
  folder: string
  tarballs: Record<string, string>
}

const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

/** Versions of the workspace's lock file by package name. */
function lockedVersions(): Map<string, string> {
  const packages = Object.entries<{ version?: string }>(readJson('package-lock.json').packages)
  return new Map(
    packages.flatMap(([path, { version }]) =>
      path.lastIndexOf('node_modules/') === 0 && version !== undefined
        ? [[path.slice('node_modules/'.length), version]]
        : [],
    ),
  )
}

/** Every entry can be imported only with all optional peers. */
function optionalPeers(locked: ReadonlyMap<string, string>): Record<string, string> {
  const manifest = readJson('packages/loadout/package.json')
  const peers = Object.entries<string>(manifest.peerDependencies)
  return Object.fromEntries(
    peers.map(([name, range]) => [name, locked.get(name) ?? manifest.devDependencies[name] ?? range]),
  )
}

/** An install that npm cannot resolve ends with the test, and leaves no process. */
const INSTALL_MS = 540_000

export const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

/** One install for all apps: each is a folder below it and finds its packages there. */
export async function installPackages(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), 'loadout-packages-'))
  const tarballs = await packPackages(join(folder, 'tarballs'))
  const locked = lockedVersions()
  const manifests = APPS.map((app) => readJson(`examples/${app}/package.json`))
  const dependencies = Object.assign({}, ...manifests.flatMap((one) => [one.dependencies, one.devDependencies]))
  for (const [name, path] of Object.entries(tarballs)) dependencies[name] = `file:${path}`
  Object.assign(dependencies, { ...optionalPeers(locked), ...dependencies })
  // npm does not finish when it chooses among the newest `@langchain` packages, whose peers exclude each other.
  const overrides = Object.fromEntries(
    [...locked].filter(([name]) => name.startsWith('@langchain/') && dependencies[name] === undefined),
  )
  const manifest = { private: true, type: 'module', dependencies, overrides }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  await run('npm', ['install', ...QUIET], { cwd: folder, timeout: INSTALL_MS, killSignal: 'SIGKILL' })
  for (const app of APPS)
    cpSync(join(ROOT, 'examples', app), join(folder, app), {
      recursive: true,
      filter: (path) => !/node_modules|\.next|package-lock/.test(path.slice(ROOT.length)),
    })
  return { folder, tarballs }
}
