/** Threads with more toolkits than the old default cap of 16, and with a cap that the user set. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'

const ann = { userId: 'ann', threadId: 'work' }
const COUNT = 79
const TOPICS: Record<number, [name: string, description: string]> = {
  3: ['list_issues', 'Lists the open issues of a repository.'],
  40: ['send_invoice', 'Sends an invoice to a customer.'],
  78: ['plan_route', 'Plans a route by car between two cities.'],
}
const toolOf = (at: number) => {
  const [name, description] = TOPICS[at] ?? [`thing_${at}`, `Does the thing number ${at}.`]
  return { name, description, inputSchema: { type: 'object' }, execute: () => `did ${name}` }
}

let host: HostServices
beforeEach(async () => {
  host = createServices({ policy: [rule('*', 'allow')], search: { vectors: false } })
  for (let at = 0; at < COUNT; at++) {
    const owner = { tier: 'user', userId: 'ann' } as const
    const { stored } = await host.toolkits.register({ name: `kit-${at}`, tools: [toolOf(at)] }, owner)
    await host.catalog.introspect(stored, 'ann')
  }
})
afterEach(() => host.close())

const toolkitsIn = async (thread = host.thread(ann)) =>
  new Set((await thread.loadout()).tools.map(({ toolkit }) => toolkit))

describe('a thread of a user with 79 toolkits', () => {
  it('has the tools of all of them without a cap', async () => {
    expect((await host.preferences.get('ann')).maxServersPerThread).toBeUndefined()
    expect((await toolkitsIn()).size).toBe(COUNT)
    const selection = await host.thread(ann).select({ prompt: 'plan a route by car to Munich', limit: 1 })
    expect(selection.tools.at(-1)?.entry.ref).toBe('kit-78.plan_route')
    expect(selection.tools.length + selection.deferred.length).toBe(COUNT + 2)
    expect(selection).toMatchObject({ dropped: [], warnings: [] })
    expect(await host.thread(ann).warnings()).toEqual([])
  })

  it('keeps the toolkits that match the prompt when a cap is set, and names the others', async () => {
    await host.preferences.update('ann', { maxServersPerThread: 2 })
    const selection = await host.thread(ann).select({ prompt: 'plan a route by car to Munich', limit: 1 })
    expect(selection.tools.at(-1)?.entry.ref).toBe('kit-78.plan_route')
    const dropped = selection.dropped.map(({ ref }) => ref)
    expect(dropped).toHaveLength(COUNT - 2)
    expect(dropped).not.toContain('kit-78')
    expect(selection.dropped[0]?.reason).toContain('maxServersPerThread is 2')
    expect(selection.warnings.join()).toContain(`${COUNT - 2} servers are left out: kit-1, `)
  })

  it('calls the tool that a prompt selected under a cap', async () => {
    await host.preferences.update('ann', { maxServersPerThread: 1 })
    const selection = await host.thread(ann).select({ prompt: 'plan a route by car to Munich', limit: 1 })
    const call = { name: 'mcp_kit-78_plan_route', arguments: {} }
    expect(await selection.call(call)).toMatchObject({ status: 'ok', content: [{ text: 'did plan_route' }] })
    const invoice = { name: 'kit-40.send_invoice', arguments: {} }
    expect(await selection.call(invoice)).toMatchObject({ status: 'denied', error: { code: 'not-carried' } })
  })

  it('keeps the toolkits with loaded tools, and without a prompt the last used ones', async () => {
    await host.thread(ann).call({ name: 'kit-40.send_invoice', arguments: {} })
    await host.thread(ann).load(['kit-3.list_issues'])
    await host.preferences.update('ann', { maxServersPerThread: 1 })
    await expect.poll(() => toolkitsIn()).toEqual(new Set(['kit-40']))
    const selection = await host.thread(ann).select({ prompt: 'plan a route by car to Munich' })
    expect(selection.tools.map(({ entry }) => entry.ref)).toContain('kit-3.list_issues')
  })

  it('explains with the prompt which toolkits the cap keeps', async () => {
    await host.preferences.update('ann', { maxServersPerThread: 1 })
    const explained = await host.thread(ann).explain({ prompt: 'plan a route by car to Munich' })
    expect(explained.filter(({ included }) => included).map(({ ref }) => ref)).toEqual(['kit-78.plan_route'])
  })

  it('does not count a toolkit without a usable tool', async () => {
    await host.preferences.update('ann', { maxServersPerThread: COUNT - 1 })
    expect(await host.thread(ann).warnings()).toEqual([
      expect.stringContaining('1 server is left out: kit-78. Raise the limit'),
    ])
    await host.toolkits.update({ id: 'kit-0' }, { exclude: ['*'] }, { tier: 'user', userId: 'ann' })
    expect(await host.thread(ann).warnings()).toEqual([])
    expect((await toolkitsIn()).has('kit-78')).toBe(true)
  })

  it('has no cap again after the cap was removed', async () => {
    await host.preferences.update('ann', { maxServersPerThread: 1 })
    expect((await toolkitsIn()).size).toBe(1)
    await host.preferences.update('ann', { maxServersPerThread: null })
    expect((await toolkitsIn()).size).toBe(COUNT)
  })
})
