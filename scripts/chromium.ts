/** Debian's Chromium: where it is, how it is started, and how it comes onto a machine that lacks it. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export const CHROMIUM = PLACES.find((path) => existsSync(path)) ?? '/usr/bin/chromium'

export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Installs it with apt where it is missing and that is possible; otherwise says what to do. */
export function ensureChromium(): void {
  if (PLACES.some((path) => existsSync(path))) return
  console.log('Chromium is missing: installing it with apt-get …')
  const run = (...args: string[]) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
  run('update')
  if (run('install', '-y', '--no-install-recommends', 'chromium')) return
  throw new Error('Chromium is missing and apt-get could not install it. Install Chromium, then run the tests again.')
}
