/** A selection reports the servers whose tools are missing, and can wait for those that start. */
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { createHost, defineTool, type Host, rule } from '../../src/index.ts'
import { nodeDrivers } from '../../src/node.ts'

const FAST = fileURLToPath(new URL('../fixtures/fastmcp-servers.ts', import.meta.url))
const list = defineTool({ name: 'list', annotations: { readOnlyHint: true }, execute: () => 'a.txt' })

let host: Host
afterEach(() => host.close())

const open = async () => {
  host = createHost({
    drivers: nodeDrivers({ stdio: 'on' }),
    policy: [rule('*', 'allow')],
    toolkits: { tools: [list] },
  })
  const ann = host.user('ann')
  await ann.call('app.list')
  return ann
}
const slow = {
  name: 'slow',
  command: process.execPath,
  args: ['-e', `setTimeout(() => import(${JSON.stringify(FAST)}), 1500)`],
}

describe('a selection', () => {
  it('names a server that does not start, with the code and the reason of its failure', async () => {
    const ann = await open()
    await ann.toolkits.add({ name: 'broken', command: '/nowhere/server' })
    const { tools, unavailable } = await ann.thread('t').select({ prompt: 'list files', waitMs: 60_000 })
    expect(tools.map(({ entry }) => entry.ref)).toContain('app.list')
    expect(unavailable).toEqual([
      {
        toolkit: 'broken',
        code: expect.stringMatching(/^[a-z-]+$/),
        reason: expect.stringContaining('/nowhere/server'),
      },
    ])
  })

  it('names a server whose tools are listed for the first time, and waits for it with waitMs', async () => {
    const ann = await open()
    await ann.toolkits.add(slow)
    const at = ann.thread('t')
    expect((await at.select({ prompt: 'repeat', waitMs: 0 })).unavailable).toMatchObject([
      { toolkit: 'slow', code: 'server-starting' },
    ])
    const later = await at.select({ prompt: 'repeat', waitMs: 120_000 })
    expect(later.unavailable).toEqual([])
    expect(later.tools.map(({ entry }) => entry.ref)).toContain('slow.repeat')
  })

  it('says nothing of a server that is off in the thread', async () => {
    const ann = await open()
    await ann.toolkits.add({ name: 'broken', command: '/nowhere/server' })
    const at = ann.thread('t')
    await at.select({ prompt: 'list files', waitMs: 60_000 })
    await at.deactivate('broken')
    expect((await at.select({ prompt: 'list files' })).unavailable).toEqual([])
  })
})
