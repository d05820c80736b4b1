/** What must hold on every screen: nothing is cut off at 360 px, both themes are readable, and axe finds nothing. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Host } from 'loadout'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'

const APP = { tier: 'app' } as const
const USER = { tier: 'user', userId: 'local' } as const

async function fill({ toolkits }: Host): Promise<void> {
  await toolkits.register({ name: 'Wiki', url: 'https://wiki.example.com/mcp' }, APP)
  await toolkits.register({ name: 'Calendar', command: 'calendar-mcp' }, APP)
  await toolkits.register({ name: 'A'.repeat(100), command: 'run', args: ['x'.repeat(300)], env: { A: 'b' } }, USER)
  await toolkits.register({ name: 'Tracker', url: 'https://t.example/mcp', auth: { type: 'bearer', token: 't' } }, USER)
  await toolkits.register({ name: 'Off', command: 'off', enabled: false }, USER)
}

describe('looks', () => {
  let app: OpenApp
  let empty: OpenApp

  beforeAll(async () => {
    app = await openApp(fill)
    empty = await openApp()
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await empty[Symbol.asyncDispose]()
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [360, 1280]) {
      it(`is whole and accessible in ${colorScheme} at ${width} px`, async () => {
        const options = { colorScheme, viewport: { width, height: 780 } }
        const page = await app.open(options)
        for (const [screen, show] of Object.entries(SCREENS)) {
          await show(page)
          await check(page, `${screen}, ${colorScheme}, ${width} px`)
        }
        const newcomer = await empty.open(options)
        await newcomer.getByRole('heading', { name: 'Add your first server' }).waitFor()
        await check(newcomer, `empty, ${colorScheme}, ${width} px`)
      })
    }
  }

  it('lets a user only switch a global server, for themselves', async () => {
    const page = await app.open()
    const calendar = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Calendar' }) })
    await calendar.getByText('Read-only').waitFor()
    expect(await calendar.getByRole('button').count()).toBe(0)
    await calendar.getByRole('switch', { name: 'Enable Calendar' }).click()
    await calendar.getByText('Disabled').waitFor()
    await page.reload()
    await calendar.getByText('Disabled').waitFor()
    await calendar.getByRole('switch', { name: 'Enable Calendar' }).click()
    await calendar.getByText('Not connected').waitFor()
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

const addDialog = (page: Page) => page.getByRole('dialog', { name: 'Add a server' })

/** Each screen from the one before it. */
const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  list: (page) => page.getByRole('heading', { name: 'Tracker' }).waitFor(),
  menu: async (page) => {
    await page.getByRole('button', { name: 'Actions for Tracker' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  },
  'delete dialog': async (page) => {
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').waitFor()
  },
  'add dialog': async (page) => {
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add server' }).click()
    await addDialog(page).getByRole('button', { name: 'Add variable' }).click()
  },
  'add dialog with errors': async (page) => {
    await addDialog(page).getByRole('radio', { name: /^URL/ }).click()
    await addDialog(page).getByRole('combobox').selectOption('oauth')
    await addDialog(page).getByRole('button', { name: 'Add server' }).click()
    await addDialog(page).getByRole('alert').waitFor()
  },
  'discard dialog': async (page) => {
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog').waitFor()
  },
  'edit dialog': async (page) => {
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('link', { name: 'Tracker' }).click()
    await page.getByText('Stored ••••').waitFor()
  },
}

async function check(page: Page, screen: string): Promise<void> {
  const tooWide = await page.evaluate(() => {
    const scrollers = [
      document.documentElement,
      ...document.querySelectorAll('[role=dialog], [role=dialog] form > div'),
    ]
    return scrollers.some((element) => element.scrollWidth > element.clientWidth)
  })
  expect(tooWide, `${screen} scrolls sideways`).toBe(false)
  const { violations } = await new AxeBuilder({ page }).analyze()
  const found = violations.map(({ id, nodes }) => ({ id, at: nodes.map((node) => node.html) }))
  expect(found, screen).toEqual([])
}
