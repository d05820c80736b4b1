/** Runs in a browser where something stands in the way: an outcome that nobody knows, a sign-in that is needed; and other windows. */
import { rule } from '@loadout/core'
import type { Page, Route } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CountingServer, startCountingServer } from '../../../test/counting-server.ts'
import { OAuthServer } from '../../../test/oauth-server.ts'
import { type OpenApp, openApp } from './open-app.ts'

const tool = (id: string, ref: string, more: object = {}) => ({ id, type: 'tool', ref, arguments: {}, ...more })
const code = (id: string, program: string, more: object = {}) => ({ id, type: 'code', program, ...more })

describe('the run page', () => {
  let app: OpenApp
  let page: Page
  let bank: CountingServer
  let mail: OAuthServer
  const node = (id: string) => page.locator(`[data-node="${id}"]`)
  const standing = (status: string) => page.locator(`[aria-live] [data-status="${status}"]`)
  const send = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${app.url}/api${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    expect(response.status, await response.clone().text()).toBeLessThan(300)
    return response.json()
  }
  const begin = async (name: string, nodes: object[]) => {
    const { id } = await send('POST', '/workflows', { name, nodes })
    const { runId } = await send('POST', '/workflow/invoke', { workflowId: id, input: {}, wait: false })
    await page.goto(`/runs/${runId}`)
    return id as string
  }

  beforeAll(async () => {
    bank = await startCountingServer('bank', [{ name: 'pay' }])
    mail = await OAuthServer.start()
    app = await openApp(({ rules }) => rules.set({}, [rule('*', 'allow')]))
    page = await app.open()
    await send('POST', '/mcp', { name: 'bank', url: bank.url })
    await send('POST', '/mcp', { name: 'mail', url: mail.url })
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await Promise.all([bank.close(), mail.close()])
  })

  it('counts the items of a map and keeps the selected node in the URL', async () => {
    await begin('Squares', [
      { id: 'each', type: 'map', over: '[1, 2, 3]', node: 'square' },
      code('square', 'return input * input', { input: '{{ item }}' }),
    ])
    await standing('completed').waitFor()
    await node('each').getByText('3 of 3 items').waitFor()
    await node('each')
      .getByRole('button', { name: /: each/ })
      .click()
    await page.waitForURL(/node=each/)
    await page.reload()
    await page.locator('[data-graph-node="each"][aria-pressed="true"]').waitFor()
  })

  it('asks for the outcome of an unknown call and continues with the answer', async () => {
    const late = Promise.withResolvers<void>()
    bank.gate = late.promise
    await begin('Pays', [tool('pay', 'bank.pay', { timeoutMs: 1500 }), code('note', 'return "noted"')])
    await standing('failed').waitFor()
    await page.getByRole('button', { name: 'Re-run from note' }).click()
    const question = page.getByRole('region', { name: 'Waits for you' })
    await question.getByRole('heading', { name: /Was “bank\.pay” of pay done\?/ }).waitFor()
    await standing('outcome-unknown').waitFor()
    expect(bank.calls).toEqual([])
    late.resolve()
    delete bank.gate
    await question.getByRole('button', { name: 'It was not done: do it' }).click()
    await standing('completed').waitFor()
    expect(bank.calls.length).toBeGreaterThan(0)
    expect(await node('pay').getAttribute('data-state')).toBe('completed')
  })

  it('offers the sign-in that a call needs and reports when it is done', async () => {
    await page.goto('/connectors')
    const signIn = page.getByRole('button', { name: 'Sign in to mail', exact: true })
    await Promise.all([page.waitForEvent('popup').then((popup) => popup.waitForEvent('close')), signIn.click()])
    await signIn.waitFor({ state: 'detached' })
    const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'mail' }) })
    await row.getByText(/1 tool,/).waitFor()
    await send('POST', '/oauth/disconnect', { toolkit: 'mail' })
    await begin('Reads mail', [tool('read', 'mail.whoami')])
    await standing('failed').waitFor()
    const offer = page.getByRole('alert').getByRole('button', { name: 'Sign in to mail' })
    await Promise.all([page.waitForEvent('popup').then((popup) => popup.waitForEvent('close')), offer.click()])
    await page.getByRole('alert').getByText('You are signed in to mail.').waitFor()
    await page.getByRole('button', { name: 'Re-run from read' }).click()
    await standing('completed').waitFor()
  })

  it('reloads a workflow saved in another window and never overwrites local edits', async () => {
    const nodes = [code('only', 'return 1')]
    const { id } = await send('POST', '/workflows', { name: 'Shared', nodes })
    await page.goto(`/workflows/${id}`)
    await page.getByText('Version 1.', { exact: true }).waitFor()
    await send('PUT', `/workflows/${id}`, { name: 'Shared', nodes: [...nodes, code('second', 'return 2')] })
    await page.getByText('Version 2.', { exact: true }).waitFor()
    await page.locator('[data-graph-node="second"]').waitFor()
    await page.getByRole('textbox', { name: 'Description' }).fill('Mine')
    await send('PUT', `/workflows/${id}`, { name: 'Shared', nodes })
    const notice = page.getByRole('status', { name: 'Saved elsewhere' })
    await notice.getByText('Version 3 was saved elsewhere.').waitFor()
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('Mine')
    await notice.getByRole('button', { name: 'Discard my changes' }).click()
    await page.getByText('Version 3.', { exact: true }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('')
    // Where the page has not heard of it, the save itself finds out, and writes over nothing.
    const isRead = (route: Route) => (route.request().method() === 'GET' ? route.abort() : route.continue())
    await page.route(`**/api/workflows/${id}*`, isRead)
    await page.getByRole('textbox', { name: 'Description' }).fill('Mine again')
    await send('PUT', `/workflows/${id}`, { name: 'Shared', description: 'Theirs', nodes })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Version 4 was saved since version 3').waitFor()
    await page.unroute(`**/api/workflows/${id}*`)
    await send('POST', '/workflows', { name: 'Any news', nodes })
    await notice.getByText('Version 4 was saved elsewhere.').waitFor()
    expect(await send('GET', `/workflows/${id}`)).toMatchObject({ version: 4, description: 'Theirs' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Version 5.', { exact: true }).waitFor()
    expect(await send('GET', `/workflows/${id}`)).toMatchObject({ version: 5, description: 'Mine again' })
  })

  it('keeps the focus and the selection of a user who types while the code editor loads', async () => {
    const loads = Promise.withResolvers<void>()
    const other = await app.open()
    await other.route('**/code-mirror-*.js', (route) => loads.promise.then(() => route.continue()))
    // The load event can wait for the editor.
    await other.goto('/workflows/new?from=ask', { waitUntil: 'commit' })
    await other.getByRole('tab', { name: 'JSON' }).click()
    await other.getByRole('textbox', { name: 'Definition as JSON' }).click()
    await other.keyboard.press('ControlOrMeta+A')
    await other.keyboard.insertText(JSON.stringify({ name: 'Before', nodes: [] }))
    await other.keyboard.press('ControlOrMeta+A')
    loads.resolve()
    await other.locator('[data-code-editor] [contenteditable]').waitFor()
    await other.keyboard.insertText(JSON.stringify({ name: 'After', nodes: [code('only', 'return 1')] }))
    await other.getByRole('tab', { name: 'Build' }).click()
    await other.getByRole('button', { name: 'Program: only' }).waitFor()
    await other.context().close()
  })

  it('shows only node settings that can be saved', async () => {
    await page.goto('/workflows/new?from=ask')
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.getByRole('textbox', { name: 'Definition as JSON' }).click()
    await page.keyboard.press('ControlOrMeta+A')
    const question = { id: 'ask', type: 'approval', message: 'Sure?', timeoutMs: 5 }
    await page.keyboard.insertText(JSON.stringify({ name: 'Odd', nodes: [question] }))
    await page.getByRole('tab', { name: 'Build' }).click()
    await page.getByRole('button', { name: 'Approval: ask' }).click()
    const remove = page.getByRole('button', { name: 'Remove its timeout' })
    await remove.waitFor()
    expect(await page.getByRole('textbox', { name: 'Attempts' }).count()).toBe(0)
    await remove.click()
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('The definition is whole.').waitFor()
  })
})
