/** bubblewrap, in which stdio servers of users run: how it comes onto a machine that lacks it. */
import { spawnSync } from 'node:child_process'

/** Installs it with apt where it is missing and that is possible; otherwise says what to do. */
export function ensureBubblewrap(): void {
  if (process.platform !== 'linux' || spawnSync('bwrap', ['--version'], { stdio: 'ignore' }).status === 0) return
  console.log('bubblewrap is missing: installing it with apt-get …')
  const run = (...args: string[]) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
  run('update')
  if (run('install', '-y', '--no-install-recommends', 'bubblewrap')) return
  throw new Error(
    'bubblewrap is missing and apt-get could not install it. Install bubblewrap, then run the tests again.',
  )
}
