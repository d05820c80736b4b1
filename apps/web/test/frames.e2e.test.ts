/** Every page begins at the same place, so that nothing jumps when one goes from page to page. */
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'
import { fill as fillCustom } from './screens/custom.ts'
import { fill as fillThreads } from './screens/threads.ts'
import { fill as fillWorkflows } from './screens/workflows.ts'

const PATHS = [
  '/connectors',
  '/connectors/custom/new',
  '/connectors/custom/prices',
  '/connectors/custom/nobody',
  '/tools',
  '/threads',
  '/threads/screens-empty',
  '/approvals',
  '/workflows',
  '/workflows/new',
  '/activity',
  '/activity?tab=usage',
  '/settings',
  '/operator',
  '/runs/nobody',
  '/nowhere',
]

describe('page frames', () => {
  let app: OpenApp
  beforeAll(async () => {
    app = await openApp(async (host) => {
      await fillCustom(host)
      await fillThreads(host)
      await fillWorkflows(host)
    })
  })
  afterAll(() => app[Symbol.asyncDispose]())

  for (const width of [1280, 1680])
    it(`start at the same position at ${width} px`, async () => {
      const page = await app.open({ viewport: { width, height: 800 } })
      const first = await beginningOf(page, '/connectors')
      // What differs by width differs between a narrow page and a wide one.
      const paths = width === 1280 ? [...PATHS, await aWorkflow()] : ['/tools', '/threads/screens-empty', '/settings']
      for (const path of paths) expect.soft(await beginningOf(page, path), path).toEqual({ ...first, path })
      await page.context().close()
    })

  async function aWorkflow(): Promise<string> {
    const { items } = await (await fetch(`${app.url}/api/workflows`)).json()
    return `/workflows/${items[0].id}`
  }
})

async function beginningOf(page: Page, path: string) {
  await page.goto(path)
  const heading = page.getByRole('heading', { level: 1 })
  await heading.waitFor()
  await page.locator('.motion-safe\\:animate-pulse').first().waitFor({ state: 'detached' })
  const { x, y, height } = (await heading.boundingBox()) ?? {}
  return { path, x, y, height }
}
