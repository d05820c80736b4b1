/** Servers on their way in: stopped before they answer, failed, replaced by a config, and refused by the operator. */
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'
import { type FixtureServer, fixtureServer } from './servers.ts'

let app: OpenApp
let page: Page
const dialog = () => page.getByRole('dialog')
const row = (name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })
const listed = async () => {
  const { toolkits } = await (await fetch(`${app.url}/api/mcp`)).json()
  return toolkits.map(({ name }: { name: string }) => name)
}
const remove = (id: string) => fetch(`${app.url}/api/mcp/${id}`, { method: 'DELETE' })

async function fill(name: string, { command, args }: FixtureServer) {
  await page.goto('/connectors?add=stdio')
  await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await dialog().getByRole('textbox', { name: 'Command' }).fill(command)
  await dialog().getByRole('textbox', { name: 'Arguments' }).fill(args.join('\n'))
  await dialog().getByRole('button', { name: 'Add server' }).click()
}
/** Whether the last line is what is seen of it. */
const isAtEnd = (region: ReturnType<Page['getByRole']>) =>
  region.evaluate(
    ({ scrollTop, clientHeight, scrollHeight }) =>
      scrollHeight > clientHeight && scrollTop + clientHeight > scrollHeight - 2,
  )

describe('adding a server when commands are allowed', () => {
  let server: FixtureServer
  beforeAll(async () => {
    app = await openApp()
    page = await app.open()
  })
  afterAll(() => app[Symbol.asyncDispose]())
  afterEach(() => server?.[Symbol.asyncDispose]())

  it('stops and removes a server that does not respond, with its process', async () => {
    server = await fixtureServer({ waits: true })
    await fill('Slow', server)
    await expect.poll(() => server.isRunning()).toBe(true)
    await dialog().getByRole('button', { name: 'Stop and remove' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByText('Slow is not added').waitFor()
    expect(await listed()).toEqual([])
    expect(await row('Slow').count()).toBe(0)
    await expect.poll(() => server.isRunning()).toBe(false)
  })

  it('continues without a prompt when the form is closed during the connection', async () => {
    server = await fixtureServer({ waits: true })
    await fill('Patient', server)
    await expect.poll(() => server.isRunning()).toBe(true)
    await dialog().getByText('Connecting and listing its tools…').waitFor()
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    expect(await page.getByRole('alertdialog').count()).toBe(0)
    await row('Patient').getByText('Connecting', { exact: true }).waitFor()
    await server.say({ tools: [{ name: 'a' }] })
    await page.getByText('Patient added').waitFor()
    await row('Patient').getByText('Connected', { exact: true }).waitFor()
    await remove('patient')
  })

  it('shows the phase and the last line of a server while it starts, and cancels the start', async () => {
    server = await fixtureServer({ waits: true, prints: 'Downloading part 2 of 9' })
    const { command, args } = server
    // The answer comes when the start is over.
    const added = page.request.post('/api/mcp', { data: { name: 'Starter', command, args } })
    await row('Starter')
      .getByRole('status')
      .getByText(/^(Installing|Starting|Negotiating the protocol)…$/)
      .waitFor()
    await row('Starter').getByText('Downloading part 2 of 9', { exact: true }).waitFor()
    expect(await server.isRunning()).toBe(true)
    await row('Starter').getByRole('button', { name: 'Cancel Starter' }).click()
    await row('Starter').getByRole('button', { name: 'Cancel Starter' }).waitFor({ state: 'detached' })
    await expect.poll(() => server.isRunning()).toBe(false)
    expect((await added).status()).toBe(201)
    expect(await row('Starter').getByText('Connecting', { exact: true }).count()).toBe(0)
    await remove('starter')
  })

  it('shows the end of the process output, where the error is', async () => {
    const noise = Array.from({ length: 60 }, (_, line) => `loading part ${line}`).join('\n')
    server = await fixtureServer({ dies: `${noise}\nFatal: cannot open the store\n` })
    await fill('Noisy', server)
    const printed = page.getByRole('group', { name: 'What Noisy printed' })
    await printed.getByText('Fatal: cannot open the store').waitFor()
    await expect.poll(() => isAtEnd(printed)).toBe(true)
    expect(await dialog().getByText('in the detail').count()).toBe(0)
    await dialog().getByRole('button', { name: 'Close' }).last().click()
    await dialog().waitFor({ state: 'detached' })
    await row('Noisy').getByText('What the server printed', { exact: true }).click()
    await expect.poll(() => isAtEnd(printed)).toBe(true)
    await remove('noisy')
  })

  it('replaces a server from a config only if confirmed, with both versions shown', async () => {
    const before = { name: 'Files', command: 'no-such-command', args: ['--root', './my notes'], enabled: false }
    const headers = { 'content-type': 'application/json' }
    await fetch(`${app.url}/api/mcp`, { method: 'POST', headers, body: JSON.stringify(before) })
    await page.goto('/connectors?add=paste')
    await dialog().getByRole('textbox', { name: 'Config' }).fill('{}')
    await dialog()
      .getByText(/^It holds no servers/)
      .waitFor()
    const config = {
      mcpServers: { Files: { command: 'another', args: ['-v'] }, fresh: { command: 'no-such-command' } },
    }
    await dialog().getByRole('textbox', { name: 'Config' }).fill(JSON.stringify(config))
    const entry = dialog().getByRole('listitem').filter({ hasText: 'Files' })
    await entry.getByText('Replaces the one that you have').waitFor()
    await entry.getByText("no-such-command --root './my notes'").waitFor()
    await entry.getByText('another -v').waitFor()
    expect(await entry.getByRole('checkbox').isChecked()).toBe(false)
    await dialog().getByRole('button', { name: 'Import 1 server' }).waitFor()
    await entry.getByRole('checkbox').check()
    await dialog().getByRole('button', { name: 'Add 1, replace 1' }).waitFor()
    await entry.getByRole('checkbox').uncheck()
    await dialog().getByRole('button', { name: 'Import 1 server' }).click()
    await dialog().waitFor({ state: 'detached' })
    await row('fresh').waitFor()
    await row('Files').getByText("no-such-command --root './my notes'").waitFor()
    await Promise.all([remove('files'), remove('fresh')])
  })

  it('names a few of many failed servers and shows the rest on one click', async () => {
    const headers = { 'content-type': 'application/json' }
    const names = ['One', 'Two', 'Three', 'Four', 'Five']
    for (const name of names)
      await fetch(`${app.url}/api/mcp`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name, command: 'no-such-command' }),
      })
    await page.goto('/connectors')
    const banner = page.getByRole('region', { name: '5 servers need you' })
    await banner.waitFor()
    expect(await banner.getByRole('listitem').count()).toBe(3)
    await banner.getByRole('link', { name: 'And 2 more' }).click()
    await page.waitForURL('**/connectors?status=needs-you')
    await Promise.all(names.map((name) => remove(name.toLowerCase())))
  })

  it('keeps the chosen source in the URL and asks before it drops typed input', async () => {
    await page.goto('/connectors?add=stdio')
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('Half')
    await dialog().getByRole('radio', { name: /^URL/ }).click()
    await dialog().getByRole('textbox', { name: 'URL' }).waitFor()
    expect(new URL(page.url()).searchParams.get('add')).toBe('http')
    expect(await dialog().getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Half')
    expect(await page.getByRole('alertdialog').count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.goto('/connectors?add=paste')
    await dialog().getByRole('radio', { name: /^URL/ }).click()
    await page.reload()
    await dialog().getByRole('textbox', { name: 'URL' }).waitFor()
  })
})

describe('adding a server when commands are off', () => {
  beforeAll(async () => {
    app = await openApp(
      ({ toolkits }) => toolkits.register({ name: 'Older', command: 'x' }, { tier: 'user', userId: 'local' }),
      { LOADOUT_STDIO: 'off' },
    )
    page = await app.open()
  })
  afterAll(() => app[Symbol.asyncDispose]())

  it('disables the command option and explains the reason', async () => {
    await row('Older').waitFor()
    await page.getByRole('button', { name: 'Add server' }).click()
    await dialog().getByRole('textbox', { name: 'URL' }).waitFor()
    const command = dialog().getByRole('radio', { name: /^Command/ })
    await command.getByText('The operator has switched commands off').waitFor()
    expect(await command.isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  it('offers no retry for a server that cannot be started', async () => {
    await fetch(`${app.url}/api/mcp/older/introspect`, { method: 'POST' })
    await row('Older').getByText('Failed', { exact: true }).waitFor()
    await row('Older')
      .getByText(/ask the operator/)
      .waitFor()
    expect(await page.getByRole('heading', { name: 'One server needs you' }).count()).toBe(0)
  })
})
