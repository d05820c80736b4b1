/** A real server with its own storage and data folder, and a context of the run's one Chromium on it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Storage } from '@loadout/core'
import { keyFileRing, nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { memory } from '@loadout/core/storage/memory'
import { pglite } from '@loadout/core/storage/pglite'
import { readConfig } from '@loadout/server/config'
import { startServer } from '@loadout/server/serve'
import type { BrowserContextOptions, ConsoleMessage, Download, Page } from 'playwright'
import { buildWeb, isStale, WEB_DIST } from '../../../scripts/start.ts'
import { copyPrepared } from '../../../test/prepare-pglite.ts'
import { connectChromium } from '../../../test/start-chromium.ts'

export const DIST = WEB_DIST

export interface OpenApp extends AsyncDisposable {
  url: string
  /** Where the first operator comes in, with many users. */
  setup: string | undefined
  open(options?: BrowserContextOptions): Promise<Page>
}

/** `fill` works on the host before the server opens it, for steps that only an operator can do; `env` adds settings. */
export async function openApp(
  fill?: (host: HostServices) => Promise<unknown>,
  env: Record<string, string> = {},
  kind: 'memory' | 'pglite' = 'memory',
): Promise<OpenApp> {
  if (isStale()) buildWeb()
  const dataDir = await mkdtemp(join(tmpdir(), 'loadout-web-'))
  const storage = kind === 'memory' ? memory() : pglite({ dataDir })
  if (kind === 'pglite') await copyPrepared(dataDir)
  if (fill) await withHost({ dataDir, storage }, fill)
  const config = readConfig({ PORT: '0', LOADOUT_DATA_DIR: dataDir, LOG_LEVEL: 'silent', ...env })
  // Multi-user servers need PostgreSQL; for the others persistence is not the subject, and memory starts at once.
  const own = config.databaseUrl === undefined ? { storage } : {}
  const server = await startServer(config, { webDir: DIST, version: '0.0.0-test', ...own })
  const browser = await connectChromium()
  return {
    url: server.url,
    setup: server.setup?.url,
    async open(options = {}) {
      const context = await browser.newContext({ baseURL: server.url, reducedMotion: 'reduce', ...options })
      context.setDefaultTimeout(60_000)
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

interface Filled {
  dataDir: string
  storage: Storage
}

async function withHost({ dataDir, storage }: Filled, fill: (host: HostServices) => Promise<unknown>): Promise<void> {
  const keyRing = await keyFileRing(join(dataDir, 'keys.json'))
  // The server opens the same storage after this host has closed.
  const shared = { ...storage, close: async () => {} }
  const host = createServices({ storage: shared, keyRing, drivers: nodeDrivers({ stdio: 'on' }) })
  await host.ready()
  await fill(host)
  await host.close()
}

/** The text of a downloaded file: the browser is another process, so the file has no path here. */
export async function textOf(download: Download): Promise<string> {
  return text(await download.createReadStream())
}

/** Colours that are inherited change one after the other; nothing is looked at before the last has. */
export async function wear(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme)
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'))
}
