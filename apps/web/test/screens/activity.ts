/** States of the page of activity, each from scratch. */
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'

export async function fill(host: HostServices): Promise<void> {
  const call = (n: number, outcome: string, ref = 'tracker.search') => ({
    userId: 'local',
    action: 'mcp_tool_call',
    source: 'mcp:tracker',
    ref,
    outcome,
    callId: `call_screen${n}`,
    detail: {
      caller: n % 3 ? 'direct' : 'code',
      decision: 'allow',
      reason: 'It only reads.',
      arguments: { query: `open ${n}` },
      argumentSize: 20,
      durationMs: 12 + ((n * 37) % 400),
      resultSize: 900 + n * 40,
    },
  })
  for (let n = 0; n < 40; n++)
    await host.audit.record(
      call(n, n % 9 === 4 ? 'tool-error' : 'ok', n % 4 ? 'tracker.search' : 'tracker.list_issues'),
    )
  await host.audit.record(call(40, 'denied', 'tracker.delete_issue'))
  await host.audit.flush()
}

export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  'activity log': async (page) => {
    await page.goto('/activity?action=mcp_tool_call')
    await page.getByText('tracker.delete_issue').waitFor()
  },
  'activity line': async (page) => {
    await page.goto('/activity?tool=tracker.delete_issue')
    await page.getByText('tracker.delete_issue').last().click()
    await page.getByText('Arguments, without secrets').waitFor()
  },
  'activity nothing found': async (page) => {
    await page.goto('/activity?tool=nobody.has-this')
    await page.getByRole('heading', { name: 'Nothing fits the filters' }).waitFor()
  },
  'activity usage': async (page) => {
    await page.goto('/activity?tab=usage')
    await page.locator('.recharts-bar-rectangle').first().waitFor()
  },
  'activity usage as tables': async (page) => {
    await page.goto('/activity?tab=usage')
    await page.getByRole('radio', { name: 'Table' }).first().click()
    await page.getByRole('radio', { name: 'Table' }).nth(2).click()
    await page.getByRole('table').first().waitFor()
  },
}
