/** The operator's page: what holds for everyone, and who they are. */
import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../test/database.ts'
import { EVERYTHING } from '../../../test/real-servers.ts'
import type {} from '../../../test/start-postgres.ts'
import { type OpenApp, openApp } from './open-app.ts'

describe('the operator page', () => {
  let app: OpenApp
  let page: Page
  const dialog = () => page.getByRole('dialog')
  const tab = async (name: string) => {
    await page.getByRole('tab', { name, exact: true }).click()
    await page.getByRole('tabpanel', { name, exact: true }).waitFor()
  }

  beforeAll(async () => {
    // A backup needs a storage that has one.
    app = await openApp(undefined, {}, 'pglite')
    page = await app.open()
    await page.goto('/operator')
  })
  afterAll(() => app[Symbol.asyncDispose]())

  it('adds a global server with tools for every user', async () => {
    await page.getByRole('heading', { name: 'No global servers' }).waitFor()
    await page.getByRole('button', { name: 'Add global server' }).click()
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('Everything')
    await dialog().getByRole('button', { name: 'Add global server' }).click()
    await dialog().getByText('Command must not be empty.').waitFor()
    await dialog().getByRole('textbox', { name: 'Command' }).fill(process.execPath)
    await dialog().getByRole('textbox', { name: 'Arguments' }).fill(`${EVERYTHING}\nstdio`)
    await dialog().getByRole('switch', { name: 'One connection for all users' }).click()
    await dialog().getByRole('button', { name: 'Add global server' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByText('shared connection').waitFor()
    await page.getByText(/^1\d tools, /).waitFor()
    const { toolkits } = await (await page.request.get('/api/mcp')).json()
    expect(toolkits).toMatchObject([{ name: 'Everything', tier: 'app', readOnly: true }])
  })

  it('edits a global server, turns it off and deletes it', async () => {
    await page.getByRole('button', { name: 'Actions for Everything' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('Samples')
    await dialog().getByRole('button', { name: 'Save changes' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByRole('switch', { name: 'Enable Samples for everyone' }).click()
    await page.getByText('Disabled').waitFor()
    await page.getByRole('button', { name: 'Actions for Samples' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete server' }).click()
    await page.getByRole('heading', { name: 'No global servers' }).waitFor()
  })

  it('sets rules in order and shows errors at their field', async () => {
    await tab('Policy')
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('textbox', { name: 'Tools' }).fill('NOT A PATTERN')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText(/^Tools must be "toolkit"/).waitFor()
    await page.getByRole('textbox', { name: 'Tools' }).fill('*.read_*')
    await page.getByRole('combobox', { name: 'Decision' }).selectOption('allow')
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('textbox', { name: 'Tools' }).nth(1).fill('*.delete_*')
    await page.getByRole('combobox', { name: 'Decision' }).nth(1).selectOption('deny')
    await page.getByRole('button', { name: 'Move rule 2 up' }).click()
    await page.getByRole('tab', { name: 'Server', exact: true }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Rules saved').waitFor()
    const { rules } = await (await page.request.get('/api/policy')).json()
    expect(rules.map(({ pattern, decision }: Record<string, string>) => `${pattern} ${decision}`)).toEqual([
      '*.delete_* deny',
      '*.read_* allow',
    ])
  })

  it('sets limits and settings and shows errors at their field', async () => {
    await tab('Settings and limits')
    await page.getByRole('textbox', { name: 'Calls an hour' }).fill('many')
    const longest = page.getByRole('textbox', { name: 'Longest call (ms)' })
    await longest.fill('0')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Calls an hour must be a number.').waitFor()
    expect(await page.getByRole('textbox', { name: 'Calls an hour' }).getAttribute('aria-invalid')).toBe('true')
    await page.getByRole('textbox', { name: 'Calls an hour' }).fill('120')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await expect.poll(() => longest.getAttribute('aria-invalid')).toBe('true')
    await longest.fill('')
    await page.getByRole('textbox', { name: 'Hosts for fetch' }).fill('api.example.com')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const config = await (await page.request.get('/api/app/config')).json()
    expect(config).toMatchObject({ limits: { maxCallsPerHour: 120 }, customToolkits: { hosts: ['api.example.com'] } })
    await page.getByRole('textbox', { name: 'Calls an hour' }).fill('')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await expect
      .poll(async () => (await (await page.request.get('/api/app/config')).json()).limits.maxCallsPerHour)
      .toBeUndefined()
  })

  it('stores a model key that is never shown, checks the log and creates a backup', async () => {
    await tab('Model keys')
    await page.getByRole('button', { name: 'Set the key for OpenAI', exact: true }).click()
    await page.getByLabel('Key for OpenAI', { exact: true }).fill('sk-planted-key-77')
    await page.getByRole('button', { name: 'Save key' }).click()
    await page.getByText('Key for everyone', { exact: true }).waitFor()
    expect(await page.content()).not.toContain('sk-planted-key-77')
    await page.getByRole('button', { name: 'Remove the key for OpenAI', exact: true }).click()
    await page.getByText('Key for everyone', { exact: true }).waitFor({ state: 'detached' })
    await tab('Server')
    await page.getByText('Any, as this server’s own user.').waitFor()
    await page.getByRole('button', { name: 'Check the log' }).click()
    await page.getByText(/The log is whole: \d+ lines/).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download a backup' }).click(),
    ])
    expect(file.suggestedFilename()).toMatch(/^loadout-.*\.tar\.gz$/)
  })
})

describe('the users page', () => {
  const PASSWORD = `pass-${randomBytes(9).toString('hex')}`
  let app: OpenApp
  let page: Page
  let drop: () => Promise<void>
  const dialog = () => page.getByRole('dialog')
  const row = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })
  const choose = async (name: string, action: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }

  beforeAll(async () => {
    const database = await createDatabase(inject('postgresUrl'))
    drop = database.drop
    app = await openApp(undefined, {
      LOADOUT_MODE: 'multi-user',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
    })
    page = await app.open()
    await page.goto(app.setup ?? '')
    await page.getByLabel('Email').fill('olga@example.com')
    await page.getByLabel('Name').fill('Olga')
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Become the operator' }).click()
    await page.getByRole('heading', { name: 'Your servers' }).waitFor()
    await page.goto('/operator?tab=users')
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await drop?.()
  })

  it('invites a user with a link that is shown once and works', async () => {
    await page.getByRole('button', { name: 'Invite' }).click()
    await dialog().getByRole('textbox', { name: 'Email' }).fill('nobody')
    await dialog().getByRole('button', { name: 'Make the link' }).click()
    await dialog()
      .getByText(/^Email /)
      .last()
      .waitFor()
    await dialog().getByRole('textbox', { name: 'Email' }).fill('ann@example.com')
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Ann')
    await dialog().getByRole('button', { name: 'Make the link' }).click()
    const link = (await dialog().locator('[data-link]').textContent()) ?? ''
    await dialog().getByRole('button', { name: 'Done' }).click()
    await dialog().waitFor({ state: 'detached' })
    await row('Ann').getByText('invited').waitFor()
    const ann = await app.open()
    await ann.goto(link)
    await ann.getByLabel('New password').fill(PASSWORD)
    await ann.getByRole('button', { name: 'Come in' }).click()
    await ann.getByRole('heading', { name: 'Your servers' }).waitFor()
    await ann.goto('/operator')
    await ann.getByRole('heading', { name: 'For operators' }).waitFor()
    await page.reload()
    await row('Ann').getByText('last signed in').waitFor()
  })

  it('changes the operator role, creates a reset link, disables, and deletes a user', async () => {
    await choose('Ann', 'Make an operator')
    await row('Ann').getByText('operator', { exact: true }).waitFor()
    await choose('Ann', 'Make a plain user')
    await row('Ann').getByText('operator', { exact: true }).waitFor({ state: 'detached' })
    await choose('Ann', 'Password reset link')
    expect(await dialog().locator('[data-link]').textContent()).toContain('/reset#')
    await dialog().getByRole('button', { name: 'Done' }).click()
    await dialog().waitFor({ state: 'detached' })
    await choose('Ann', 'Disable')
    await row('Ann').getByText('disabled', { exact: true }).waitFor()
    await choose('Ann', 'Delete')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete user' }).click()
    await row('Ann').waitFor({ state: 'detached' })
    await choose('Olga', 'Make a plain user')
    await page.getByText(/Nobody else operates this server/).waitFor()
  })
})
