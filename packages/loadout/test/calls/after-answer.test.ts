/** A call that waited for its answer: all that changed meanwhile counts, and the answer is for what was asked about alone. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'

const owner = { tier: 'user', userId: 'ann' } as const
let host: HostServices
let made: unknown[]
const tools = (more: object = {}) => [
  { name: 'pay', inputSchema: { type: 'object' }, execute: (input: unknown) => void made.push(input), ...more },
]
beforeEach(async () => {
  made = []
  host = createServices({ policy: [rule('*', { allowEdits: true }, 'ask')] })
  await host.toolkits.register({ name: 'kit', tools: tools() }, owner)
})
afterEach(() => host.close())

const start = (threadId?: string) =>
  host.calls.start({
    userId: 'ann',
    toolkit: 'kit',
    tool: 'pay',
    arguments: { n: 1 },
    caller: { type: 'direct' },
    threadId,
  })

/** Asked, then changed, then allowed. */
async function allowedAfter(change: () => Promise<unknown>, threadId?: string) {
  const running = start(threadId)
  const { id } = await running.pending
  await change()
  await host.approvals.answer('ann', id, { decision: 'allow' })
  return running
}

describe('a change during a pending approval', () => {
  const look = async () => {
    const stored = await host.toolkits.find('ann', 'kit')
    await host.catalog.introspect(stored, 'ann')
  }
  it.each<[string, () => Promise<unknown>, object]>([
    ["the user's rules", () => host.rules.set({ userId: 'ann' }, [rule('kit', 'deny')]), { code: 'denied' }],
    ['a limit of arguments', () => host.app.update({ limits: { argumentBytes: 1 } }), { code: 'limit-reached' }],
    ['the switch', () => host.toolkits.update('kit', { enabled: false }, owner), { code: 'not-carried' }],
    ['that it is there', () => host.toolkits.remove('kit', owner), { code: 'not-found' }],
    [
      'who may call it',
      () => host.toolkits.update('kit', { allowedCallers: ['code'] }, owner),
      { code: 'not-carried' },
    ],
    [
      'the thread',
      async () => {
        await host.thread({ userId: 'ann', threadId: 't' }).deactivate('kit')
      },
      { code: 'not-carried' },
    ],
    [
      'that it has such a tool',
      async () => {
        await host.toolkits.register({ name: 'kit', tools: tools({ name: 'other' }) }, owner)
        await look()
      },
      { code: 'tool-not-found' },
    ],
    [
      'its schema',
      async () => {
        const inputSchema = { type: 'object', properties: { n: { type: 'string' } } }
        await host.toolkits.register({ name: 'kit', tools: tools({ inputSchema }) }, owner)
        await look()
      },
      { code: 'invalid-input' },
    ],
  ])('%s', async (_, change, error) => {
    const running = await allowedAfter(change, 't')
    expect(await running.outcome).toMatchObject({ error })
    expect(made).toEqual([])
  })

  it('applies new app rules and a saved block', async () => {
    const [one, other] = [start(), start()]
    await one.pending
    await host.approvals.answer('ann', (await other.pending).id, { decision: 'deny', remember: 'tool' })
    await host.approvals.answer('ann', (await one.pending).id, { decision: 'allow' })
    expect(await one.outcome).toMatchObject({ status: 'denied' })
    expect(made).toEqual([])
  })

  it('asks again for another server of the same name', async () => {
    const running = start()
    const { id } = await running.pending
    await host.toolkits.register({ name: 'kit', tools: tools({ title: 'Pays another' }) }, owner)
    await host.catalog.introspect(await host.toolkits.find('ann', 'kit'), 'ann')
    await host.catalog.accept(await host.toolkits.find('ann', 'kit'), { userId: 'ann' })
    await host.approvals.answer('ann', id, { decision: 'allow' })
    const again = async () => (await host.approvals.list('ann', { status: 'pending' }))[0]?.id
    await expect.poll(again).toBeDefined()
    expect(made).toEqual([])
    await host.approvals.answer('ann', (await again()) ?? '', { decision: 'allow' })
    expect(await running.outcome).toMatchObject({ status: 'ok' })
    expect(made).toEqual([{ n: 1 }])
  })

  it('is ignored if it is irrelevant, and the call runs once and counts once', async () => {
    const running = await allowedAfter(() => host.toolkits.update('kit', { name: 'Renamed' }, owner))
    expect(await running.outcome).toMatchObject({ status: 'ok' })
    expect(made).toEqual([{ n: 1 }])
    expect((await host.usage('ann')).callsThisHour.used).toBe(1)
    const { items } = await host.audit.list({ userId: 'ann' }, { callId: running.callId, action: 'mcp_tool_call' })
    expect(items.map(({ outcome }) => outcome)).toEqual(['ok', 'started'])
  })
})
