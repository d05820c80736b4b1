/** Writes the tarballs of all published packages into `tarballs/`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildPackages, PACKAGES, ROOT } from './packages.ts'

/** Builds the packages and returns the paths of their tarballs by package name. */
export async function packPackages(folder: string): Promise<Record<string, string>> {
  await buildPackages()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const dists = PACKAGES.map((item) => join(ROOT, item.folder, 'dist'))
  const args = ['pack', '--json', '--pack-destination', folder]
  const written = execFileSync('npm', args.concat(dists), { cwd: ROOT, encoding: 'utf8' })
  const packed = JSON.parse(written) as Array<{ name: string; filename: string }>
  return Object.fromEntries(packed.map(({ name, filename }) => [name, join(folder, filename)]))
}

if (import.meta.main)
  for (const path of Object.values(await packPackages(join(ROOT, 'tarballs')))) process.stdout.write(`${path}\n`)
