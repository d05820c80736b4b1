/** What must hold on every screen: nothing is cut off at 360 px, both themes are readable, and axe finds nothing. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp, wear } from './open-app.ts'
import { PAGES } from './screens/index.ts'

const WIDTHS = [360, 1280]
// Each width in one theme, each theme at one width; `npm run prove:looks` looks at every pair.
const THEMES: Record<number, ReadonlyArray<'light' | 'dark'>> = process.env.LOADOUT_PROVE === 'full'
  ? { 360: ['light', 'dark'], 1280: ['light', 'dark'] }
  : { 360: ['light'], 1280: ['dark'] }

for (const [name, { SCREENS, fill }] of Object.entries(PAGES))
  describe(name, () => {
    let app: OpenApp
    beforeAll(async () => {
      app = await openApp(fill)
    })
    afterAll(() => app[Symbol.asyncDispose]())

    for (const width of WIDTHS)
      it(`is whole and accessible at ${width} px, ${THEMES[width]?.join(' and ')}`, async () => {
        const page = await app.open({ viewport: { width, height: 780 } })
        for (const [screen, show] of Object.entries(SCREENS)) {
          await show(page)
          for (const colorScheme of THEMES[width] ?? []) {
            await wear(page, colorScheme)
            await check(page, `${name}: ${screen}, ${colorScheme}, ${width} px`)
          }
        }
        await page.context().close()
      })
  })

describe('the first visit and the theme', () => {
  let app: OpenApp
  beforeAll(async () => {
    app = await openApp()
  })
  afterAll(() => app[Symbol.asyncDispose]())

  for (const width of WIDTHS)
    it(`teaches at ${width} px`, async () => {
      const page = await app.open({ viewport: { width, height: 780 } })
      for (const path of ['/connectors', '/tools', '/threads', '/approvals', '/workflows', '/activity']) {
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.locator('.motion-safe\\:animate-pulse').first().waitFor({ state: 'detached' })
        await check(page, `empty ${path}, ${width} px`)
      }
    })

  it('keeps the chosen theme and never paints the other first', async () => {
    const page = await app.open({ colorScheme: 'light' })
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
    expect(await theme()).toBe('light')
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(theme).toBe('dark')
    await page.getByRole('radio', { name: 'Light' }).click()
    await expect.poll(theme).toBe('light')
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (!document.body) return
        document.documentElement.dataset.firstTheme = document.documentElement.dataset.theme ?? 'none'
        observer.disconnect()
      }).observe(document, { childList: true, subtree: true })
    })
    await page.reload()
    expect(await page.evaluate(() => document.documentElement.dataset.firstTheme)).toBe('light')
    expect(await page.getByRole('radio', { name: 'Light' }).getAttribute('aria-checked')).toBe('true')
  })
})

async function check(page: Page, screen: string): Promise<void> {
  const tooWide = await page.evaluate(() => {
    const scrollers = [
      document.documentElement,
      ...document.querySelectorAll('[role=dialog], [role=dialog] form > div'),
    ]
    return scrollers.some((element) => element.scrollWidth > element.clientWidth)
  })
  expect.soft(tooWide, `${screen} scrolls sideways`).toBe(false)
  const { violations } = await new AxeBuilder({ page }).analyze()
  const found = violations.map(({ id, nodes }) => ({ id, at: nodes.map((node) => node.html) }))
  expect.soft(found, screen).toEqual([])
}
