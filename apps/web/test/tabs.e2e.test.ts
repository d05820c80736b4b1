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
