/** Publishes each built package whose version the registry lacks. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGES, ROOT } from './packages.ts'

for (const { folder } of PACKAGES) {
  const dist = join(ROOT, folder, 'dist')
  const { name, version } = JSON.parse(readFileSync(join(dist, 'package.json'), 'utf8'))
  const known = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' })
  if (known.stdout.trim() === version) continue
  const { status } = spawnSync('npm', ['publish', dist], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
