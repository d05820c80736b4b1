/** The inbox with real calls: asked, allowed, denied, remembered, edited, answered elsewhere, expired; and what servers ask. */
import type { Page } from 'playwright'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'
import { begin, fill, SCREENS } from './screens/approvals.ts'

describe('the approvals page', () => {
  let app: OpenApp
  let page: Page
  const card = (name: string) => page.getByRole('article', { name: new RegExp(`^${name} on`) })
  const answered = () => page.getByRole('region', { name: 'Answered' }).getByRole('listitem')
  const outcome = async (callId: string) => (await fetch(`${app.url}/api/calls/${callId}`)).json()
  const post = (path: string, body: object) =>
    fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  beforeAll(async () => {
    app = await openApp(fill)
    page = await app.open()
  })
  beforeEach(() => SCREENS['nothing to approve']?.(page))
  afterAll(() => app[Symbol.asyncDispose]())

  it('shows an approval request live, and the call continues after the answer', async () => {
    const { callId } = await begin(page, 'front-desk/cancel_all')
    await card('cancel_all').getByText('The tool may destroy something.').waitFor()
    await card('cancel_all').getByText('It is called without arguments.').waitFor()
    await card('cancel_all')
      .getByText(/^\d+ min \d+ s left$/)
      .waitFor()
    await page.getByRole('link', { name: /^Approvals.*1/ }).waitFor()
    await card('cancel_all').getByRole('button', { name: 'Allow cancel_all once' }).click()
    await card('cancel_all').waitFor({ state: 'detached' })
    await expect.poll(async () => (await outcome(callId)).status).toBe('ok')
    await answered().first().getByText('Allowed').waitFor()
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('waiting')
  })

  it('answers a focused card with Y and N unless the shortcuts are off', async () => {
    const { callId } = await begin(page, 'front-desk/cancel_all')
    await card('cancel_all').focus()
    await card('cancel_all').getByText('allows once').waitFor()
    await page.keyboard.press('y')
    await expect.poll(async () => (await outcome(callId)).status).toBe('ok')
    await card('cancel_all').waitFor({ state: 'detached' })
    await page.getByRole('switch', { name: 'Answer with Y and N' }).click()
    const later = await begin(page, 'front-desk/cancel_all')
    await card('cancel_all').focus()
    await page.keyboard.press('n')
    expect((await outcome(later.callId)).status).toBe('pending')
    await page.getByRole('switch', { name: 'Answer with Y and N' }).click()
    await card('cancel_all').focus()
    await page.keyboard.press('n')
    await expect.poll(async () => (await outcome(later.callId)).code).toBe('denied')
  })

  it('works when the browser blocks storage', async () => {
    const blocked = await app.open()
    await blocked.addInitScript(() => {
      const denied = () => {
        throw new DOMException('denied', 'SecurityError')
      }
      for (const storage of ['localStorage', 'sessionStorage']) Object.defineProperty(window, storage, { get: denied })
    })
    await blocked.goto('/approvals')
    await blocked.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
    const keys = blocked.getByRole('switch', { name: 'Answer with Y and N' })
    await keys.click()
    await expect.poll(() => keys.getAttribute('aria-checked')).toBe('false')
    await blocked.goto('/workflows/new?from=import')
    await blocked.getByRole('heading', { name: 'New workflow' }).waitFor()
    await blocked.context().close()
  })

  it('lets the user edit arguments if the rule permits it, and accepts only valid values', async () => {
    const { callId } = await begin(page, 'front-desk/book', { room: 'Sea view', nights: 2 })
    await card('Book a room').getByText('Bookings cost money.').waitFor()
    await card('Book a room').getByRole('button', { name: 'Edit the arguments' }).click()
    const nights = card('Book a room').getByRole('spinbutton', { name: 'nights' })
    await nights.fill('0')
    await card('Book a room').getByRole('button', { name: 'Allow Book a room once' }).click()
    await card('Book a room')
      .getByText(/at least 1/)
      .waitFor()
    expect((await outcome(callId)).status).toBe('pending')
    await nights.fill('5')
    await card('Book a room').getByRole('button', { name: 'Allow Book a room once' }).click()
    await expect.poll(async () => (await outcome(callId)).status).toBe('ok')
    expect(JSON.stringify(await outcome(callId))).toContain('5')
  })

  it('shows invisible characters in the arguments', async () => {
    await begin(page, 'front-desk/book', { room: 'Sea \u202Eweiv', nights: 2 })
    await card('Book a room').getByText('\\u202e').waitFor()
    expect(await card('Book a room').textContent()).not.toContain('\u202E')
    await card('Book a room').getByRole('button', { name: 'Deny Book a room', exact: true }).click()
    await card('Book a room').waitFor({ state: 'detached' })
  })

  it('saves a permission for the chosen scope', async () => {
    await begin(page, 'front-desk/cancel_all')
    await card('cancel_all').getByRole('button', { name: 'Allow cancel_all for longer' }).click()
    expect(await page.getByRole('menuitem', { name: 'For this conversation' }).count()).toBe(0)
    await page.getByRole('menuitem', { name: 'Always for this tool' }).click()
    await answered().first().getByText('always for this tool').waitFor()
    const again = await begin(page, 'front-desk/cancel_all')
    await expect.poll(async () => (await outcome(again.callId)).status).toBe('ok')
    const { items } = await (await fetch(`${app.url}/api/grants`)).json()
    for (const { id } of items) await fetch(`${app.url}/api/grants/${id}`, { method: 'DELETE' })
    await begin(page, 'front-desk/cancel_all')
    await card('cancel_all').getByRole('button', { name: 'Deny cancel_all and block it from now on' }).click()
    await card('cancel_all').waitFor({ state: 'detached' })
    const blocked = await begin(page, 'front-desk/cancel_all')
    await expect.poll(async () => (await outcome(blocked.callId)).code).toBe('denied')
    const blocks = await (await fetch(`${app.url}/api/grants`)).json()
    for (const { id } of blocks.items) await fetch(`${app.url}/api/grants/${id}`, { method: 'DELETE' })
  })

  it('reports when another user answered first', async () => {
    await begin(page, 'front-desk/cancel_all')
    await card('cancel_all').waitFor()
    const { items } = await (await fetch(`${app.url}/api/approvals?status=pending`)).json()
    // The page must not hear of it before it is pressed.
    await page.route('**/api/approvals?**', (route) => route.abort())
    await post(`/api/approvals/${items[0].id}/answer`, { decision: 'deny' })
    await card('cancel_all').getByRole('button', { name: 'Allow cancel_all once' }).click()
    await card('cancel_all').getByText('Already handled.').waitFor()
    await card('cancel_all').getByText('Your answer changed nothing.').waitFor()
    await page.unroute('**/api/approvals?**')
  })

  it('lists answered requests by outcome', async () => {
    await begin(page, 'front-desk/book', { room: 'Attic' })
    await card('Book a room').getByRole('button', { name: 'Deny Book a room', exact: true }).click()
    await page.getByRole('radio', { name: 'Denied' }).click()
    await page.waitForURL(/answered=denied/)
    await page.reload()
    await page.getByRole('radio', { name: 'Denied', checked: true }).waitFor()
    await answered().first().getByText('Book a room').waitFor()
    await answered().first().getByText('Book a room').click()
    await answered().first().getByText('"Attic"').waitFor()
    await page.getByRole('radio', { name: 'Allowed' }).click()
    await expect.poll(() => answered().getByText('Denied').count()).toBe(0)
  })

  it('shows the input request of a server and sends the answer', async () => {
    const callId = String(await SCREENS['a question of a server']?.(page))
    const question = page.getByRole('article', { name: /^Asking asks you/ })
    await question.getByRole('textbox', { name: 'String', exact: true }).fill('Ann')
    await question.getByRole('textbox', { name: 'String with email format' }).fill('no address')
    await question.getByRole('button', { name: 'Send' }).click()
    await question.locator('[aria-invalid=true]').waitFor()
    await question.getByRole('textbox', { name: 'String with email format' }).fill('ann@example.com')
    await question.getByRole('button', { name: 'Send' }).click()
    await question.waitFor({ state: 'detached' })
    await expect.poll(async () => JSON.stringify(await outcome(callId))).toContain('ann@example.com')
  })
})
