/** The built UI inside another app, at a path of that app. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServices } from '@loadout/core/services'
import { createApp } from '@loadout/server'
import { toNodeHandler } from '@loadout/server/node'
import { expect, it } from 'vitest'
import { buildWeb, isStale } from '../../../scripts/start.ts'
import { connectChromium } from '../../../test/start-chromium.ts'
import { DIST } from './open-app.ts'

it('the web UI works at a path: files, API calls, live events and links stay below it', async () => {
  if (isStale()) buildWeb()
  const host = createServices()
  const authenticate = () => ({ kind: 'session' as const, userId: 'ann' })
  const handle = toNodeHandler(createApp({ host, authenticate, basePath: '/tools', webDir: DIST }))
  const outside: string[] = []
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/tools')) return handle(request, response)
    outside.push(request.url ?? '')
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = await connectChromium()
  const context = await browser.newContext({ baseURL: url })
  try {
    const page = await context.newPage()
    const streams = page.waitForRequest(`${url}/tools/api/events`)
    await page.goto('/tools')
    await page.waitForURL(`${url}/tools/connectors`)
    await streams
    await page.getByRole('link', { name: 'Threads' }).first().click()
    await page.waitForURL(`${url}/tools/threads`)
    await page.getByRole('button', { name: 'New thread' }).first().click()
    await page.waitForURL(/\/tools\/threads\/.+/)
    await page.reload()
    await expect.poll(() => page.getByRole('link', { name: 'MCP servers' }).count()).toBeGreaterThan(0)
    expect(outside).toEqual([])
  } finally {
    await context.close()
    await browser.close()
    server.close().closeAllConnections()
    await host.close()
  }
})
