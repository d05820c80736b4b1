/** What a first visit loads: little, and nothing of the pages that are not shown. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { DIST, openApp } from './open-app.ts'

it('the first page loads at most 250 KB of compressed script', async () => {
  await using app = await openApp()
  const page = await app.open()
  await page.getByRole('heading', { name: 'Your servers' }).waitFor()
  const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  const scripts = [...new Set(loaded.filter((name) => name.includes('/assets/') && name.endsWith('.js')))]
  expect(scripts.length).toBeGreaterThan(2)
  expect(scripts.length).toBeLessThan(18)
  const sizes = await Promise.all(
    scripts.map(async (url) => gzipSync(await readFile(join(DIST, 'assets', basename(url)))).length),
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000)
})
