/** States of the page of settings, each from scratch. */
import type { Page } from 'playwright'
import { ago, forget, standIn } from './stand-in.ts'

const WEEK_ON = -7 * 24 * 60
const session = (id: string, current: boolean, userAgent: string) => ({
  id,
  current,
  userAgent,
  address: '192.0.2.7',
  createdAt: ago(90),
  lastSeenAt: ago(3),
  expiresAt: ago(WEEK_ON),
})
const SESSIONS = [
  session(
    'a',
    true,
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  ),
  session('b', false, 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0'),
]

const tab = (name: string, heading: string) => async (page: Page) => {
  await forget(page)
  await page.goto(name === 'general' ? '/settings' : `/settings?tab=${name}`)
  await page.getByRole('heading', { name: heading, exact: true }).waitFor()
}

export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  'settings general': tab('general', 'Tools'),
  'settings rules': async (page) => {
    await tab('rules', 'Your rules')(page)
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('textbox', { name: 'Tools' }).fill('github.delete_*')
  },
  'settings limits': tab('limits', 'Your own limits'),
  'settings answers': tab('answers', 'No remembered answers'),
  'settings keys': tab('keys', 'API keys'),
  'settings new key': async (page) => {
    await tab('keys', 'API keys')(page)
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').waitFor()
  },
  'settings models': tab('models', 'Model keys'),
  'settings account': async (page) => {
    await standIn(page, { 'auth/sessions': { items: SESSIONS } })
    await page.goto('/settings?tab=account')
    await page.getByText('Firefox on Mac').waitFor()
  },
  'settings import and export': async (page) => {
    await tab('servers', 'Export')(page)
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText(/"mcpServers"/).waitFor()
  },
}
