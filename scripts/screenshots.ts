/**
 * `npm run screenshots`: every page into docs/screenshots, light and dark, 360 and 1280 px. `-- all` shows every screen
 * that the tests look at, `-- tools` those of one page.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openApp, wear } from '../apps/web/test/open-app.ts'
import { PAGES } from '../apps/web/test/screens/index.ts'

const [asked = '', folder = fileURLToPath(new URL('../docs/screenshots', import.meta.url))] = process.argv.slice(2)

/** One or two of each page; the tests look at the rest. */
const SHOWN: Record<string, readonly string[]> = {
  connectors: ['servers', 'a changed tool'],
  custom: ['a try'],
  tools: ['a tool with its form'],
  threads: ['threads', 'thread with an answer'],
  approvals: ['calls to approve'],
  workflows: ['workflows', 'tool node', 'run that waits'],
  activity: ['activity log', 'activity usage'],
  settings: ['settings general'],
  operator: ['global servers'],
  'signed-out': ['sign in'],
}

await mkdir(folder, { recursive: true })
for (const [name, { SCREENS, fill }] of Object.entries(PAGES)) {
  const isWhole = asked === 'all' || asked === name
  if (asked !== '' && !isWhole) continue
  const shown = Object.entries(SCREENS).filter(([screen]) => isWhole || SHOWN[name]?.includes(screen))
  if (shown.length === 0) throw new Error(`No screen of "${name}" is shown: see SHOWN in scripts/screenshots.ts.`)
  await using app = await openApp(fill)
  for (const width of [360, 1280]) {
    const page = await app.open({ viewport: { width, height: width === 360 ? 780 : 800 } })
    for (const [screen, show] of shown) {
      await show(page)
      for (const colorScheme of ['light', 'dark'] as const) {
        await wear(page, colorScheme)
        const file = `${name}-${screen.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}-${colorScheme}-${width}.png`
        await page.screenshot({ path: join(folder, file) })
        console.log(file)
      }
    }
    await page.context().close()
  }
}
