/** Finds Chromium or Chrome on this machine, and installs Debian's Chromium where neither is there. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** The headless shell comes first: it starts no window for each context, which is a third of the cost of a page. */
const SHELL = '/usr/bin/chromium-headless-shell'
const PATHS = [
  SHELL,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

export const CHROMIUM = PATHS.find((path) => existsSync(path)) ?? SHELL

export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Installs Chromium with apt-get if it is missing. If that fails, the error says what to do. */
export function ensureChromium(): void {
  if (PATHS.some((path) => existsSync(path))) return
  console.log('Chromium is missing: installing it with apt-get …')
  const run = (...args: string[]) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
  run('update')
  for (const name of ['chromium-headless-shell', 'chromium'])
    if (run('install', '-y', '--no-install-recommends', name)) return
  throw new Error('Chromium is missing and apt-get could not install it. Install Chromium, then run the tests again.')
}
