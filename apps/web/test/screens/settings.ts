/** States of the page of settings, each from scratch. */
import type { Page } from 'playwright'

const tab = (name: string, heading: string) => async (page: Page) => {
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
  'settings import and export': async (page) => {
    await tab('servers', 'Export')(page)
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText(/"mcpServers"/).waitFor()
  },
}
