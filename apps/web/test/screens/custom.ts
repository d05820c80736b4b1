/** The states of the editor of custom toolkits that must look right. */
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'

const USER = { tier: 'user', userId: 'local' } as const
const money = {
  type: 'object',
  properties: { cents: { type: 'integer' }, currency: { type: 'string', enum: ['EUR', 'USD'] } },
  required: ['cents'],
}

export async function fill({ toolkits }: HostServices): Promise<void> {
  await toolkits.register(
    {
      name: 'Prices',
      secrets: { MARGIN: '25' },
      tools: [
        {
          name: 'quote',
          title: 'Quote',
          description: 'What a customer pays for something, with our margin on it.',
          inputSchema: money,
          annotations: { readOnlyHint: true },
          execute:
            "console.log('margin', Number(secrets.MARGIN))\nreturn { cents: Math.round(input.cents * (1 + Number(secrets.MARGIN) / 100)) }",
        },
        { name: 'rate', description: 'The rate of a currency.', inputSchema: money, execute: 'return 1.1' },
      ],
    },
    USER,
  )
}

const open = async (page: Page) => {
  await page.goto('/connectors/custom/prices')
  await page.getByRole('button', { name: 'quote', exact: true }).waitFor()
  await page.locator('.cm-content').nth(1).waitFor()
  await page.getByText('Valid', { exact: true }).waitFor()
}

/** Each from scratch. */
export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  'a new one': async (page) => {
    await page.goto('/connectors/custom/new')
    await page.getByText('Valid', { exact: true }).waitFor()
    await page.locator('.cm-content').nth(1).waitFor()
  },
  form: open,
  'as JSON, with problems': async (page) => {
    await open(page)
    await page.getByRole('radio', { name: 'JSON' }).first().click()
    await page.getByRole('textbox', { name: 'The toolkit as JSON' }).fill(BROKEN)
    await page.getByText('4 problems').waitFor()
    await page.locator('.cm-lintRange-error').first().waitFor()
  },
  'a try': async (page) => {
    await open(page)
    const panel = page.getByRole('region', { name: 'Try it' })
    await panel.getByLabel(/cents/).fill('1000')
    await panel.getByRole('button', { name: 'Run' }).click()
    await panel.getByText('It worked').waitFor()
    await panel.getByText('margin 25').waitFor()
  },
  'leaving unsaved': async (page) => {
    await open(page)
    await page.getByRole('textbox', { name: 'Title' }).fill('Another')
    await page.getByRole('link', { name: 'MCP servers' }).last().click()
    await page.getByRole('alertdialog').waitFor()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stay here' }).waitFor()
  },
  'not there': async (page) => {
    await page.goto('/connectors/custom/nobody')
    await page.getByText('There is no such toolkit of yours').waitFor()
  },
}

const BROKEN = JSON.stringify(
  { tools: [{ name: 'a b', inputSchema: { type: 'text' }, execute: 'return (', hosts: ['example.com'] }] },
  undefined,
  2,
)
