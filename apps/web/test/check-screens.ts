/** Checks of every screen: nothing is cut off at 360 px, both themes are readable, and axe finds nothing. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp, wear } from './open-app.ts'
import { PAGES } from './screens/index.ts'

export const WIDTHS = [360, 1280]
/** The pages by test file, so that workers share them. */
export const GROUPS = {
  servers: ['connectors', 'custom', 'tools'],
  threads: ['threads', 'approvals', 'workflows', 'signed-out'],
  operation: ['activity', 'settings', 'operator'],
}
/** Screens of a page in the short run; `npm run prove:screens` checks all. */
const FEW = 2

/** Checks every screen in both themes and widths. The short run checks the first screens small and light, and the next one wide and dark. */
export function checkScreens(names: readonly string[], isWhole: boolean): void {
  for (const name of names) {
    const { SCREENS, fill } = PAGES[name] ?? { SCREENS: {} }
    describe(name, () => {
      let app: OpenApp
      beforeAll(async () => {
        app = await openApp(fill)
      })
      afterAll(() => app[Symbol.asyncDispose]())

      for (const width of WIDTHS) {
        const themes = isWhole ? (['light', 'dark'] as const) : ([width === 360 ? 'light' : 'dark'] as const)
        const all = Object.entries(SCREENS)
        const screens = isWhole ? all : width === 360 ? all.slice(0, FEW) : all.slice(FEW, FEW + 1)
        it(`is whole and accessible at ${width} px, ${themes.join(' and ')}`, async () => {
          expect(screens).not.toEqual([])
          const page = await app.open({ viewport: { width, height: 780 } })
          await page.addInitScript(watchPolicy)
          for (const [screen, show] of screens) {
            await show(page)
            for (const theme of themes) {
              await wear(page, theme)
              await check(page, `${name}: ${screen}, ${theme}, ${width} px`)
            }
          }
          await page.context().close()
        })
      }
    })
  }
}

/** What the server's policy forbids: a library that is new, or does more than it did, is noticed here. */
function watchPolicy(): void {
  const forbidden: string[] = []
  Object.assign(window, { forbidden })
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile, lineNumber }) => {
    // Where one types over coloured text, Chromium itself writes a style, which comes from no script (`open-app.ts`).
    if (effectiveDirective === 'style-src-attr' && !sourceFile && lineNumber === 0) return
    forbidden.push(`${effectiveDirective} ${blockedURI} ${sourceFile}:${lineNumber}`)
  })
}

export async function check(page: Page, screen: string): Promise<void> {
  const tooWide = await page.evaluate(() => {
    const scrollers = [
      document.documentElement,
      ...document.querySelectorAll('[role=dialog], [role=dialog] form > div'),
    ]
    return scrollers.some((element) => element.scrollWidth > element.clientWidth)
  })
  expect.soft(tooWide, `${screen} scrolls sideways`).toBe(false)
  const forbidden = await page.evaluate(() => (window as unknown as { forbidden?: string[] }).forbidden ?? [])
  expect.soft(forbidden, `${screen} is against the policy`).toEqual([])
  // No page has a frame of another origin: without such frames, the legacy mode needs no second page for its report.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  const found = violations.map(({ id, nodes }) => ({ id, at: nodes.map((node) => node.html) }))
  expect.soft(found, screen).toEqual([])
}
