/** A real server on a data folder of its own, and a real browser on it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@loadout/server/config'
import { startServer } from '@loadout/server/serve'
import { createHost, type Host } from 'loadout'
import { keyFileRing, nodeDrivers } from 'loadout/node'
import { pglite } from 'loadout/storage/pglite'
import { type BrowserContextOptions, type ConsoleMessage, chromium, type Page } from 'playwright'
import { CHROMIUM, CHROMIUM_FLAGS } from '../../../scripts/chromium.ts'
import { buildWeb, isStale, WEB_DIST } from '../../../scripts/start.ts'
import { copyPrepared } from '../../../test/prepare-pglite.ts'

export const DIST = WEB_DIST

export interface OpenApp extends AsyncDisposable {
  url: string
  /** Where the first operator comes in, with many users. */
  setup: string | undefined
  open(options?: BrowserContextOptions): Promise<Page>
}

/** `fill` works on the host before the server opens it, for what only an operator can do; `env` is more of its settings. */
export async function openApp(
  fill?: (host: Host) => Promise<unknown>,
  env: Record<string, string> = {},
): Promise<OpenApp> {
  if (isStale()) buildWeb()
  const dataDir = await mkdtemp(join(tmpdir(), 'loadout-web-'))
  await copyPrepared(dataDir)
  if (fill) await withHost(dataDir, fill)
  const config = readConfig({ PORT: '0', LOADOUT_DATA_DIR: dataDir, LOG_LEVEL: 'silent', ...env })
  const server = await startServer(config, { webDir: DIST, version: '0.0.0-test' })
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS })
  return {
    url: server.url,
    setup: server.setup?.url,
    async open(options = {}) {
      const context = await browser.newContext({ baseURL: server.url, reducedMotion: 'reduce', ...options })
      context.setDefaultTimeout(10_000)
      const page = await context.newPage()
      page.on('pageerror', (error) => {
        throw error
      })
      page.on('console', (message) => {
        if (message.text().includes('Content Security Policy') && !isOfTyping(message)) throw new Error(message.text())
      })
      await page.goto('/connectors')
      return page
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Who types over coloured text in an editor makes Chromium carry its colours over, as a style of its own, which the policy takes
 * away again. No script did it: it has no place in one.
 */
function isOfTyping(message: ConsoleMessage): boolean {
  const { lineNumber, columnNumber } = message.location()
  return message.text().startsWith('Applying inline style') && lineNumber + columnNumber === 0
}

async function withHost(dataDir: string, fill: (host: Host) => Promise<unknown>): Promise<void> {
  const keyRing = await keyFileRing(join(dataDir, 'keys.json'))
  const host = createHost({ storage: pglite({ dataDir }), keyRing, drivers: nodeDrivers({ stdio: 'on' }) })
  await host.ready()
  await fill(host)
  await host.close()
}

/** Colours that are inherited change one after the other; nothing is looked at before the last has. */
export async function wear(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme)
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'))
}
