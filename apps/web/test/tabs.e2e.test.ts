/** Many tabs of one browser: a browser allows six connections to a server, and every tab stays live all the same. */
import type { Page } from 'playwright'
import { expect, it } from 'vitest'
import { openApp } from './open-app.ts'

it('nine tabs load, all show a change, and continue after the first is closed', async () => {
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

it('the edit form of a server that another tab deleted keeps the typed values', async () => {
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

it.each([
  { tier: 'user', userId: 'local', page: '/connectors?edit=', api: '/api/mcp' },
  { tier: 'app', page: '/operator?server=', api: '/api/app/toolkits' },
] as const)('a server of the $tier that was saved elsewhere is never overwritten without a warning', async (one) => {
  const owner = one.tier === 'app' ? { tier: one.tier } : { tier: one.tier, userId: one.userId }
  await using app = await openApp(async ({ toolkits }) => {
    await toolkits.register({ name: 'Common', command: '/nowhere/server', enabled: false }, owner)
  })
  const page = await app.open()
  const { toolkits } = await (await page.request.get(one.api)).json()
  const path = `${one.api}/${toolkits[0].uscoId}`
  const stored = async () => (await (await page.request.get(path)).json()).server.command
  const saveElsewhere = async (command: string) => {
    expect((await page.request.patch(path, { data: { command } })).status()).toBe(200)
  }
  await page.goto(`${one.page}${toolkits[0].uscoId}`)
  const dialog = page.getByRole('dialog')
  const command = dialog.getByRole('textbox', { name: 'Command' })
  const warning = dialog.getByText('This server was saved elsewhere while you changed it here.')
  const save = dialog.getByRole('button', { name: 'Save changes' })
  // Who typed nothing goes on from what is saved.
  await command.waitFor()
  await saveElsewhere('/first')
  await expect.poll(() => command.inputValue()).toBe('/first')
  await command.fill('/mine')
  await saveElsewhere('/second')
  await warning.waitFor()
  await save.click()
  expect(await stored()).toBe('/second')
  await dialog.getByRole('button', { name: 'Take what was saved' }).click()
  await warning.waitFor({ state: 'detached' })
  expect(await command.inputValue()).toBe('/second')
  // Without the news from the server, the save itself finds out.
  await page.route(`**${one.api}`, (route) => route.abort())
  await command.fill('/mine')
  await saveElsewhere('/third')
  await save.click()
  await warning.waitFor()
  await page.unroute(`**${one.api}`)
  expect(await stored()).toBe('/third')
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await warning.waitFor({ state: 'detached' })
  // Who comes between the look and the save is first, too.
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() === 'PATCH') await saveElsewhere('/fourth')
    await route.continue()
  })
  await save.click()
  await warning.waitFor()
  await page.unroute(`**${path}`)
  expect(await stored()).toBe('/fourth')
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await save.click()
  await dialog.waitFor({ state: 'detached' })
  expect(await stored()).toBe('/mine')
})
