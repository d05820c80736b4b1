/** The inbox: empty, with a question about a call, with one of a server, and with what was answered. */

import { rule } from '@loadout/core'
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'
import { EVERYTHING } from '../../../../test/real-servers.ts'

const USER = { tier: 'user', userId: 'local' } as const

export async function fill({ toolkits, catalog, rules }: HostServices): Promise<void> {
  const record = {
    name: 'Front desk',
    tools: [
      {
        name: 'book',
        title: 'Book a room',
        description: 'Books a room.',
        inputSchema: {
          type: 'object',
          properties: { room: { type: 'string' }, nights: { type: 'integer', minimum: 1 } },
          required: ['room'],
        },
        annotations: { destructiveHint: false },
        execute: 'return { booked: input }',
      },
      {
        name: 'cancel_all',
        description: 'Cancels every booking.',
        inputSchema: { type: 'object' },
        annotations: { destructiveHint: true },
        execute: 'return "gone"',
      },
    ],
  }
  const asking = { name: 'Asking', command: process.execPath, args: [EVERYTHING] }
  for (const one of [record, asking]) {
    const { stored } = await toolkits.register(one, USER)
    await catalog.introspect(stored, 'local')
  }
  const asks = rule('front-desk.book', { allowEdits: true, reason: 'Bookings cost money.' }, 'ask')
  await rules.set({}, [...(await rules.list({})), asks])
}

/** Begins a call that nobody waits for. */
export const begin = (page: Page, tool: string, args: object = {}) =>
  page.evaluate(
    ([path, body]) =>
      fetch(`/api/tools/${path}/call`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ arguments: body, wait: false }),
      }).then((response) => response.json()),
    [tool, args] as const,
  )

const open = async (page: Page) => {
  await page.goto('/approvals')
  await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
}
const first = (page: Page) => page.getByRole('article').first()

/** Answers what is open, so that each screen begins from scratch. */
async function clear(page: Page): Promise<void> {
  await page.goto('/approvals')
  await page.evaluate(async () => {
    const post = (path: string, body: object) =>
      fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const { items } = await (await fetch('/api/approvals?status=pending')).json()
    for (const { id } of items) await post(`/api/approvals/${id}/answer`, { decision: 'deny' })
    const inputs = await (await fetch('/api/inputs')).json()
    for (const { id } of inputs.items) await post(`/api/inputs/${id}`, { action: 'cancel' })
  })
}

export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  'nothing to approve': async (page) => {
    await clear(page)
    await open(page)
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
  },
  'calls to approve': async (page) => {
    await clear(page)
    await begin(page, 'front-desk/book', { room: 'Sea view', nights: 2 })
    await begin(page, 'front-desk/cancel_all')
    await open(page)
    await page.getByRole('button', { name: 'Allow cancel_all once' }).waitFor()
    await page.getByText('May destroy').first().waitFor()
    await first(page).focus()
  },
  'arguments changed before the yes': async (page) => {
    await clear(page)
    await begin(page, 'front-desk/book', { room: 'Sea view', nights: 2 })
    await open(page)
    await page.getByRole('button', { name: 'Edit the arguments' }).click()
    await page.getByRole('spinbutton', { name: 'nights' }).waitFor()
  },
  'a question of a server': async (page) => {
    await clear(page)
    const { callId } = await begin(page, 'asking/trigger-elicitation-request')
    await open(page)
    await page.getByRole('button', { name: /^Allow .* once$/ }).click()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await page.getByRole('textbox', { name: 'String', exact: true }).waitFor()
    return callId
  },
}
