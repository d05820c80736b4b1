/** Many tabs of one browser: a browser allows six connections to a server, and every tab stays live all the same. */
import type { Page } from 'playwright'
import { expect, it } from 'vitest'
import { openApp } from './open-app.ts'

it('nine tabs load, all of them see a change, and go on when the first is closed', async () => {
  await using app = await openApp()
  const first = await app.open()
  const others: Page[] = []
  for (let tab = 2; tab <= 9; tab++) {
    const page = await first.context().newPage()
    await page.goto('/connectors')
    await page.getByRole('heading', { name: 'Your servers' }).waitFor()
    others.push(page)
  }
  const add = async (name: string) => {
    const body = JSON.stringify({ name, command: '/nowhere/server' })
    const headers = { 'content-type': 'application/json' }
    expect((await fetch(`${app.url}/api/mcp`, { method: 'POST', headers, body })).status).toBe(201)
    await Promise.all(others.map((page) => page.getByRole('heading', { name }).waitFor()))
  }
  await add('seen-by-all')
  await first.close()
  await add('seen-after-the-first')
})

it('a server that another tab deletes while it is edited here takes nothing along that was typed', async () => {
  await using app = await openApp(async ({ toolkits }) => {
    await toolkits.register({ name: 'Doomed', command: '/nowhere/server' }, { tier: 'user', userId: 'local' })
  })
  const page = await app.open()
  const { toolkits } = await (await fetch(`${app.url}/api/mcp`)).json()
  await page.goto(`/connectors?edit=${toolkits[0].uscoId}`)
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Command' }).fill('/somewhere/server')
  expect((await fetch(`${app.url}/api/mcp/doomed`, { method: 'DELETE' })).status).toBe(204)
  await dialog.getByText('This server was deleted elsewhere.').waitFor()
  expect(await dialog.getByRole('textbox', { name: 'Command' }).inputValue()).toBe('/somewhere/server')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('')
  // An address that asks for what is not there asks no more.
  await page.goto(`/connectors?edit=${toolkits[0].uscoId}`)
  await expect.poll(() => new URL(page.url()).search).toBe('')
})
