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

/** Every entry can be imported only with all optional peers. */
function optionalPeers(): Record<string, string> {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'packages/loadout/package.json'), 'utf8'))
  const peers = Object.entries<string>(manifest.peerDependencies)
  return Object.fromEntries(peers.map(([name, range]) => [name, manifest.devDependencies[name] ?? range]))
}

/** An install that npm cannot resolve ends with the test, and leaves no process. */
const INSTALL_MS = 540_000

export const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

/** One install for all apps: each is a folder below it and finds its packages there. */
export async function installPackages(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), 'loadout-packages-'))
  const tarballs = await packPackages(join(folder, 'tarballs'))
  const manifests = APPS.map((app) => JSON.parse(readFileSync(join(ROOT, `examples/${app}/package.json`), 'utf8')))
  const dependencies = Object.assign({}, ...manifests.flatMap((one) => [one.dependencies, one.devDependencies]))
  for (const [name, path] of Object.entries(tarballs)) dependencies[name] = `file:${path}`
  Object.assign(dependencies, { ...optionalPeers(), ...dependencies })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  await run('npm', ['install', ...QUIET], { cwd: folder, timeout: INSTALL_MS, killSignal: 'SIGKILL' })
  for (const app of APPS)
    cpSync(join(ROOT, 'examples', app), join(folder, app), {
      recursive: true,
      filter: (path) => !/node_modules|\.next|package-lock/.test(path.slice(ROOT.length)),
    })
  return { folder, tarballs }
}
