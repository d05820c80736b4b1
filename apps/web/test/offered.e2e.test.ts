/** Resources, URI templates and prompts on the servers page, and a server that wants a token (R10, R11, G9). */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'

const STDIO = fileURLToPath(new URL('../../../packages/loadout/test/fixtures/refusing-stdio.ts', import.meta.url))

let app: OpenApp
let page: Page
/** Answers 401 to everything of MCP, and describes no sign-in. */
let locked: Server

const row = (name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })

async function add(body: object): Promise<void> {
  const { status } = await fetch(`${app.url}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(status).toBe(201)
}

beforeAll(async () => {
  locked = createServer((request, response) => void response.writeHead(request.url === '/mcp' ? 401 : 404).end())
  await new Promise<void>((resolve) => locked.listen(0, '127.0.0.1', resolve))
  app = await openApp()
  await add({ name: 'Cities', command: process.execPath, args: [STDIO, 'modern'] })
  await add({ name: 'Locked', url: `http://127.0.0.1:${(locked.address() as AddressInfo).port}/mcp` })
  page = await app.open()
  await row('Cities').getByRole('button', { name: 'Cities', exact: true }).click()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  locked.closeAllConnections()
  await new Promise((resolve) => locked.close(resolve))
})

/** The suggestions that the browser offers for a field. */
const suggestions = (label: string) =>
  row('Cities')
    .getByRole('combobox', { name: label })
    .evaluate((input: HTMLInputElement) => [...(input.list?.options ?? [])].map(({ value }) => value))

it('fills in a URI template with suggestions and reads the resource', async () => {
  await row('Cities').getByRole('tab', { name: 'Resources' }).click()
  await row('Cities').getByRole('button', { name: 'street', exact: true }).click()
  await row('Cities').getByRole('combobox', { name: 'city' }).fill('Osl')
  await expect.poll(() => suggestions('city')).toEqual(['Oslo'])
  await row('Cities').getByRole('combobox', { name: 'city' }).fill('Oslo')
  await row('Cities').getByRole('combobox', { name: 'street' }).fill('T')
  await expect.poll(() => suggestions('street')).toEqual(['Trondheimsveien'])
  await row('Cities').getByRole('combobox', { name: 'street' }).fill('Trondheimsveien')
  await row('Cities').getByRole('button', { name: 'Read: street' }).click()
  await row('Cities').getByText('Trondheimsveien in Oslo').waitFor()
})

it('shows the reason of a resource that the server refuses to read', async () => {
  await row('Cities').getByRole('button', { name: 'broken', exact: true }).click()
  await row('Cities').getByRole('button', { name: 'Read: broken' }).click()
  await row('Cities').getByText('The disk is full').waitFor()
})

it('fills in a prompt', async () => {
  await row('Cities').getByRole('tab', { name: 'Prompts' }).click()
  await row('Cities').getByRole('button', { name: 'visit', exact: true }).click()
  await row('Cities').getByRole('combobox', { name: 'city' }).fill('Bern')
  await row('Cities').getByRole('combobox', { name: 'street' }).fill('Markt')
  await row('Cities').getByRole('button', { name: 'Get prompt: visit' }).click()
  await row('Cities').getByText('Visit {"city":"Bern","street":"Markt"}').waitFor()
})

it('offers the token field of a server that offers no sign-in', async () => {
  await row('Locked').getByText('Token needed', { exact: true }).waitFor()
  expect(await row('Locked').getByRole('button', { name: 'Sign in to Locked' }).count()).toBe(0)
  await row('Locked').getByRole('button', { name: 'Add token to Locked' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Token', { exact: true }).waitFor()
  expect(await dialog.getByRole('combobox', { name: 'Authentication' }).inputValue()).toBe('bearer')
})
