/** Nothing moves while a page loads, also where its server takes its time: what comes is as large as what held its place. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Page, Request } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WIDTHS } from './look-at.ts'
import { type OpenApp, openApp } from './open-app.ts'
import { fill as fillActivity } from './screens/activity.ts'
import { fill as fillWorkflows } from './screens/workflows.ts'

const PATHS = [
  '/connectors',
  '/tools',
  '/threads',
  '/approvals',
  '/workflows',
  '/activity',
  '/activity?tab=usage',
  '/settings',
]
/** All that a page waits for, after the first script; events have no end. */
const SLOW = /\/api\/(?!events)|\/assets\/[\w-]+-(page|tab)-/
/** What an eye does not see. */
const UNSEEN = 0.005

describe('layout shift', () => {
  let app: OpenApp
  beforeAll(async () => {
    app = await openApp(async (host) => {
      await fillActivity(host)
      await fillWorkflows(host)
    })
  })
  afterAll(() => app[Symbol.asyncDispose]())

  // Most of the time each page waits for slow answers.
  for (const width of WIDTHS)
    it.concurrent(`stays at zero at ${width} px`, async ({ expect }) => {
      const page = await app.open({ viewport: { width, height: 780 } })
      const open = await slowDown(page)
      await page.addInitScript(watch)
      for (const path of [...PATHS, await finishedRun()]) {
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await expect.poll(() => open.size).toBe(0)
        await page.locator('.motion-safe\\:animate-pulse').first().waitFor({ state: 'detached' })
        await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
        const moved = await page.evaluate(() => (window as unknown as { moved: string[] }).moved)
        const sum = moved.reduce((all, line) => all + Number.parseFloat(line), 0)
        expect.soft(sum, `${path}\n${moved.join('\n')}`).toBeLessThan(UNSEEN)
      }
      await page.context().close()
    })

  async function finishedRun(): Promise<string> {
    const { items } = await (await fetch(`${app.url}/api/workflows`)).json()
    const { id } = items.find(({ name }: { name: string }) => name === 'Squares')
    const response = await fetch(`${app.url}/api/workflow/invoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ workflowId: id }),
    })
    const run = await response.json()
    expect(run).toMatchObject({ status: 'completed' })
    return `/runs/${run.runId}`
  }
})

/** Everything takes its time; what is still open is in the set. */
async function slowDown(page: Page): Promise<ReadonlySet<Request>> {
  const open = new Set<Request>()
  await page.route(SLOW, async (route) => {
    open.add(route.request())
    await wait(150)
    await route.continue()
  })
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => open.delete(request))
  return open
}

function watch(): void {
  interface Shift {
    value: number
    hadRecentInput: boolean
    sources: Array<{ node: Node | null }>
  }
  const nameOf = ({ node }: { node: Node | null }) =>
    node instanceof Element ? `<${node.localName} class="${node.className}">` : ''
  const moved: string[] = []
  Object.assign(window, { moved })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as Shift[])
      if (!entry.hadRecentInput) moved.push(`${entry.value} ${entry.sources.map(nameOf)}`)
  }).observe({ type: 'layout-shift', buffered: true })
}
