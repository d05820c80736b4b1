/**
 * One visit per page and width: nothing moves while the page loads, even if its server is slow, and its heading is where
 * the heading of every other page is.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { HostServices } from '@loadout/core/services'
import type { Page, Request } from 'playwright'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'
import { fill as fillActivity } from './screens/activity.ts'
import { fill as fillCustom } from './screens/custom.ts'
import { fill as fillThreads } from './screens/threads.ts'
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
const MORE_PATHS = [
  '/connectors/custom/new',
  '/connectors/custom/prices',
  '/connectors/custom/nobody',
  '/threads/screens-empty',
  '/workflows/new',
  '/operator',
  '/runs/nobody',
  '/nowhere',
]
/** A narrow page, a conversation and a form: the widths of their contents differ most. */
const WIDE_PATHS = ['/connectors', '/tools', '/threads/screens-empty', '/settings']
/** Requests that follow the first script, except the endless stream of events. */
const SLOW = /\/api\/(?!events)|\/assets\/[\w-]+-(page|tab)-/
const SLOW_MS = 150
/** A smaller shift is invisible. */
const MAX_SHIFT = 0.005

describe('page layout', () => {
  let app: OpenApp
  beforeAll(async () => {
    app = await openApp(async (host: HostServices) => {
      for (const fill of [fillActivity, fillCustom, fillThreads, fillWorkflows]) await fill(host)
    })
  })
  afterAll(() => app[Symbol.asyncDispose]())

  // Each page waits for slow answers most of the time.
  it.concurrent('does not shift at 360 px', async ({ expect }) => {
    for (const { path, shifts } of await visit(360, [...PATHS, await finishedRun()]))
      expect.soft(total(shifts), `${path}\n${shifts.join('\n')}`).toBeLessThan(MAX_SHIFT)
  })

  it.concurrent('does not shift, and starts at the same position on every page at 1280 px', async ({ expect }) => {
    const shown = [...PATHS, await finishedRun()]
    const visits = await visit(1280, shown.concat(MORE_PATHS, await firstWorkflow()))
    for (const { path, shifts, heading } of visits) {
      // A page that reports a missing item has nothing to reserve its place with.
      if (shown.includes(path)) expect.soft(total(shifts), `${path}\n${shifts.join('\n')}`).toBeLessThan(MAX_SHIFT)
      if (!path.startsWith('/runs/run_')) expect.soft(heading, path).toEqual(visits[0]?.heading)
    }
  })

  it.concurrent('starts at the same position on every page at 1680 px', async ({ expect }) => {
    const visits = await visit(1680, WIDE_PATHS)
    for (const { path, heading } of visits) expect.soft(heading, path).toEqual(visits[0]?.heading)
  })

  async function visit(width: number, paths: readonly string[]) {
    const page = await app.open({ viewport: { width, height: 780 } })
    const open = await slowDown(page)
    await page.addInitScript(watchShifts)
    const visits = []
    for (const path of paths) {
      await page.goto(path)
      const first = page.getByRole('heading', { level: 1 })
      await first.waitFor()
      await vi.waitUntil(() => open.size === 0, { timeout: 60_000 })
      await page.locator('.motion-safe\\:animate-pulse').first().waitFor({ state: 'detached' })
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
      const shifts = await page.evaluate(() => (window as unknown as { shifts: string[] }).shifts)
      const { x, y, height } = (await first.boundingBox()) ?? {}
      visits.push({ path, shifts, heading: { x, y, height } })
    }
    await page.context().close()
    return visits
  }

  async function firstWorkflow(): Promise<string> {
    const { items } = await (await fetch(`${app.url}/api/workflows`)).json()
    return `/workflows/${items[0].id}`
  }

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

const total = (shifts: readonly string[]) => shifts.reduce((sum, shift) => sum + Number.parseFloat(shift), 0)

/** Delays every request of the page; the returned set has the unfinished ones. */
async function slowDown(page: Page): Promise<ReadonlySet<Request>> {
  const open = new Set<Request>()
  await page.route(SLOW, async (route) => {
    open.add(route.request())
    await wait(SLOW_MS)
    await route.continue()
  })
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => open.delete(request))
  return open
}

function watchShifts(): void {
  interface Shift {
    value: number
    hadRecentInput: boolean
    sources: Array<{ node: Node | null }>
  }
  const nameOf = ({ node }: { node: Node | null }) =>
    node instanceof Element ? `<${node.localName} class="${node.className}">` : ''
  const shifts: string[] = []
  Object.assign(window, { shifts })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as Shift[])
      if (!entry.hadRecentInput) shifts.push(`${entry.value} ${entry.sources.map(nameOf)}`)
  }).observe({ type: 'layout-shift', buffered: true })
}
