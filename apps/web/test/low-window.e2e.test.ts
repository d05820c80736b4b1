/** At 400 % zoom, where a window has 320 × 256 px: all of a dialog can be reached, and it has the whole window to be read in. */
import type { Locator } from 'playwright'
import { expect, it } from 'vitest'
import { openApp } from './open-app.ts'
import { fill } from './screens/custom.ts'

const LOW = { width: 320, height: 256 }

it('dialogs scroll as a whole in a low window', async () => {
  await using app = await openApp(fill)
  const page = await app.open({ viewport: LOW })
  await page.goto('/connectors?add=stdio')
  const adding = page.getByRole('dialog', { name: 'Add a server' })
  await adding.getByRole('textbox', { name: 'Name', exact: true }).waitFor()
  await isReadable(adding, adding.getByRole('button', { name: 'Add server' }))
  for (const field of await adding.getByRole('textbox').all()) {
    await field.scrollIntoViewIfNeeded()
    expect(await isInSight(field)).toBe(true)
  }
  await adding.getByRole('textbox', { name: 'Name', exact: true }).fill('x')
  await page.keyboard.press('Escape')
  const asked = page.getByRole('alertdialog')
  await isReadable(asked, asked.getByRole('button', { name: 'Discard' }))
  await asked.getByRole('button', { name: 'Discard' }).click()
  await adding.waitFor({ state: 'detached' })

  await page.goto('/settings?tab=keys')
  await page.getByRole('button', { name: 'New key' }).first().click()
  const key = page.getByRole('dialog')
  await isReadable(key, key.getByRole('button', { name: 'Cancel' }))
  await page.keyboard.press('Escape')
  await key.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Open navigation' }).click()
  const drawer = page.getByRole('dialog', { name: 'Navigation' })
  await isReadable(drawer, drawer.getByRole('radio', { name: 'Dark' }), drawer.getByRole('link').first())
})

/** Its beginning is in sight, then its end; and nothing within it has a scrolling of its own, in what is left of 256 px. */
async function isReadable(dialog: Locator, last: Locator, first = dialog.getByRole('heading').first()): Promise<void> {
  await dialog.waitFor()
  // What has the focus is in sight already.
  await dialog.evaluate((element) => element.scrollTo(0, 0))
  expect(await isInSight(first)).toBe(true)
  expect(await dialog.evaluate(scrollersWithin)).toEqual([])
  await last.scrollIntoViewIfNeeded()
  expect(await isInSight(last)).toBe(true)
}

async function isInSight(place: Locator): Promise<boolean> {
  const box = await place.boundingBox()
  const { width, height } = LOW
  return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height
}

const scrollersWithin = (dialog: Element) =>
  [...dialog.querySelectorAll(':not(textarea)')]
    .filter((one) => one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY))
    .map((one) => one.className)
