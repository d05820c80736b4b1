/** The screens of the server pages, and the first visit. `npm run prove:screens` checks every screen in both themes and widths. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { check, checkScreens, GROUPS, WIDTHS } from './check-screens.ts'
import { type OpenApp, openApp } from './open-app.ts'

const isFull = process.env.LOADOUT_PROVE === 'full'
checkScreens(GROUPS.servers, isFull)

describe('the first visit and the theme', () => {
  let app: OpenApp
  beforeAll(async () => {
    app = await openApp()
  })
  afterAll(() => app[Symbol.asyncDispose]())

  for (const width of isFull ? WIDTHS : WIDTHS.slice(0, 1))
    it(`explains each empty page at ${width} px`, async () => {
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
