/** Approval requests, answers and grants through the pipeline of a host with function tools. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createServices, type HostServices } from '../../host/create-services.ts'
import type { ServiceOptions } from '../../host/service-options.ts'
import type { ToolManifest } from '../../schema/toolkit/tool.ts'
import { rule } from '../rules.ts'

const owner = { tier: 'user', userId: 'ann' } as const
let host: HostServices
let calls: unknown[]
const tools = (more: Partial<ToolManifest> = {}) => [
  {
    name: 'send',
    inputSchema: { type: 'object', properties: { to: { type: 'string' }, password: { type: 'string' } } },
    execute: (input: unknown) => {
      calls.push(input)
      return 'sent'
    },
    ...more,
  },
  { name: 'look', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' }, execute: () => 'seen' },
]
const open = async (options: ServiceOptions = {}) => {
  host = createServices(options)
  await host.toolkits.register({ name: 'mail', tools: tools() }, owner)
}
beforeEach(async () => {
  calls = []
  await open()
})
afterEach(() => host.close())

const start = (args: object = { to: 'bob' }, threadId?: string) =>
  host.calls.start({
    userId: 'ann',
    toolkit: 'mail',
    tool: 'send',
    arguments: args as never,
    caller: { type: 'direct' },
    ...(threadId === undefined ? {} : { threadId }),
  })
const answer = async (id: string, body: object) => host.approvals.answer('ann', id, body)

describe('a call that needs approval', () => {
  it('waits, is shown with masked secrets and continues when it is allowed', async () => {
    const running = start({ to: 'bob', password: 'hunter22' })
    const approval = await running.pending
    expect(approval).toMatchObject({
      status: 'pending',
      ref: 'mail.send',
      caller: { type: 'direct' },
      callId: running.callId,
    })
    expect(JSON.stringify(approval)).not.toContain('hunter22')
    expect(approval.arguments).toMatchObject({ to: 'bob' })
    expect(calls).toEqual([])
    expect(host.calls.get('ann', running.callId)).toMatchObject({ status: 'running', approval: { id: approval.id } })
    expect(await answer(approval.id, { decision: 'allow' })).toMatchObject({ status: 'allowed' })
    expect(await running.outcome).toMatchObject({ status: 'ok' })
    expect(calls).toEqual([{ to: 'bob', password: 'hunter22' }])
  })

  it('never runs its tool when it is denied', async () => {
    const running = start()
    await answer((await running.pending).id, { decision: 'deny' })
    expect(await running.outcome).toMatchObject({ status: 'denied', error: { code: 'denied', status: 403 } })
    expect(calls).toEqual([])
  })

  it('is denied when its approval request expires', async () => {
    await host.close()
    await open({ approvalMs: 50 })
    const running = start()
    const { id } = await running.pending
    expect(await running.outcome).toMatchObject({ status: 'denied', error: { code: 'approval-expired' } })
    expect(await host.approvals.get('ann', id)).toMatchObject({ status: 'expired' })
    await expect(answer(id, { decision: 'allow' })).rejects.toMatchObject({ code: 'conflict' })
    expect(calls).toEqual([])
  })

  it('accepts one of two concurrent answers and rejects the other with a conflict', async () => {
    const running = start()
    const { id } = await running.pending
    const both = await Promise.allSettled([answer(id, { decision: 'allow' }), answer(id, { decision: 'deny' })])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const lost = both.find((one) => one.status === 'rejected')
    expect(lost?.reason).toMatchObject({ code: 'conflict' })
    const { status } = await host.approvals.get('ann', id)
    expect((await running.outcome).status).toBe(status === 'allowed' ? 'ok' : 'denied')
    expect(calls).toHaveLength(status === 'allowed' ? 1 : 0)
  })

  it('closes its approval request when its caller cancels', async () => {
    const gone = new AbortController()
    const running = host.calls.start({
      userId: 'ann',
      toolkit: 'mail',
      tool: 'send',
      arguments: {},
      caller: { type: 'direct' },
      signal: gone.signal,
    })
    const { id } = await running.pending
    gone.abort()
    expect(await running.outcome).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect((await host.approvals.get('ann', id)).status).toBe('expired')
  })

  it('is private to its user, and its arguments change only if the rule allows edits', async () => {
    const running = start()
    const { id } = await running.pending
    await expect(host.approvals.answer('bob', id, { decision: 'allow' })).rejects.toMatchObject({ code: 'not-found' })
    expect(await host.approvals.list('bob')).toEqual([])
    await expect(answer(id, { decision: 'allow', arguments: { to: 'eve' } })).rejects.toMatchObject({
      errors: [{ path: 'arguments' }],
    })
    await expect(answer(id, { decision: 'allow', remember: 'thread' })).rejects.toMatchObject({
      errors: [{ path: 'remember' }],
    })
    await expect(answer(id, { decision: 'maybe' })).rejects.toMatchObject({ code: 'invalid-input' })
    await answer(id, { decision: 'deny' })
    await running.outcome
    await host.close()
    await open({ policy: [rule('mail', { allowEdits: true }, 'ask')] })
    const edited = start()
    await answer((await edited.pending).id, { decision: 'allow', arguments: { to: 'eve' } })
    expect(await edited.outcome).toMatchObject({ status: 'ok' })
    expect(calls).toEqual([{ to: 'eve' }])
  })

  it('excludes read-only calls, and user rules tighten this but never loosen it', async () => {
    const look = () =>
      host.calls.start({ userId: 'ann', toolkit: 'mail', tool: 'look', arguments: {}, caller: { type: 'direct' } })
    expect(await look().outcome).toMatchObject({ status: 'ok' })
    await host.rules.set({ userId: 'ann' }, [rule('mail.look', 'deny'), rule('mail.send', 'allow')])
    expect(await look().outcome).toMatchObject({ status: 'denied' })
    const running = start()
    await answer((await running.pending).id, { decision: 'deny' })
    await host.app.update({ trust: { untrusted: ['mail'] } })
    await host.rules.set({ userId: 'ann' }, [])
    const untrusted = look()
    expect((await untrusted.pending).reason).toContain('is not believed')
    await answer((await untrusted.pending).id, { decision: 'allow' })
    expect(await untrusted.outcome).toMatchObject({ status: 'ok' })
  })
})

describe('a grant', () => {
  const allow = async (remember: string, threadId?: string) => {
    const running = start({ to: 'bob' }, threadId)
    await answer((await running.pending).id, { decision: 'allow', remember })
    expect(await running.outcome).toMatchObject({ status: 'ok' })
  }
  /** Whether the next call is asked about; it is then denied. */
  const outcomeOfNext = async (threadId?: string) => {
    const running = start({ to: 'bob' }, threadId)
    const first = await Promise.race([running.outcome, running.pending])
    if (!('expiresAt' in first)) return first.status
    await answer(first.id, { decision: 'deny' })
    await running.outcome
    return 'asked'
  }

  it('applies to a thread or a tool and can be listed and revoked', async () => {
    await allow('thread', 't')
    expect([await outcomeOfNext('t'), await outcomeOfNext('other'), await outcomeOfNext()]).toEqual([
      'ok',
      'asked',
      'asked',
    ])
    const [grant] = await host.grants.list('ann')
    expect(grant).toMatchObject({ ref: 'mail.send', target: 'tool', decision: 'allow', threadId: 't' })
    await expect(host.grants.revoke('bob', grant?.id ?? '')).rejects.toMatchObject({ code: 'not-found' })
    await host.grants.revoke('ann', grant?.id ?? '')
    expect(await outcomeOfNext('t')).toBe('asked')
    await allow('tool')
    expect(await outcomeOfNext('anywhere')).toBe('ok')
  })

  it('can deny a whole toolkit', async () => {
    const running = start()
    await answer((await running.pending).id, { decision: 'deny', remember: 'toolkit' })
    expect(await outcomeOfNext()).toBe('denied')
    expect(
      await host.calls.start({
        userId: 'ann',
        toolkit: 'mail',
        tool: 'look',
        arguments: {},
        caller: { type: 'direct' },
      }).outcome,
    ).toMatchObject({ status: 'denied' })
  })

  it('is rejected where a rule requires approval every time', async () => {
    await host.close()
    await open({ policy: [rule('mail', { allowRemember: false }, 'ask')] })
    const running = start()
    const { id } = await running.pending
    await expect(answer(id, { decision: 'allow', remember: 'tool' })).rejects.toMatchObject({
      errors: [{ path: 'remember' }],
    })
    await answer(id, { decision: 'allow' })
    expect(await outcomeOfNext()).toBe('asked')
  })

  const manifest: Array<[string, Partial<ToolManifest>]> = [
    ['title', { title: 'Another' }],
    ['description', { description: 'Sends, and keeps a copy.' }],
    [
      'input schema',
      { inputSchema: { type: 'object', properties: { to: { type: 'string' }, cc: { type: 'string' } } } },
    ],
    ['output schema', { outputSchema: { type: 'object' } }],
    ['annotations', { annotations: { openWorldHint: true } }],
  ]
  for (const remember of ['tool', 'toolkit'])
    it.each(manifest)(`is void after a manifest change: %s (for the ${remember})`, async (_, change) => {
      await allow(remember)
      expect(await outcomeOfNext()).toBe('ok')
      await host.toolkits.register({ name: 'mail', tools: tools(change) }, owner)
      const stored = await host.toolkits.find('ann', 'mail')
      await host.catalog.introspect(stored, 'ann')
      await host.catalog.accept(stored, { userId: 'ann' })
      expect(await outcomeOfNext()).toBe('asked')
    })

  describe('of a server', () => {
    const base = {
      name: 'web',
      url: 'https://one.example/mcp',
      headers: { 'X-Key': 'first' },
      tools: [{ name: 'send', inputSchema: { type: 'object' } }],
    }
    const remembered = async () => {
      const stored = await host.toolkits.find('ann', 'web')
      const found = (await host.catalog.tools('ann', [stored])).get(stored.uscoId)?.[0]
      return found && (await host.grants.remembered({ userId: 'ann', stored, found }))
    }
    beforeEach(async () => {
      await host.toolkits.register(base, owner)
      const running = host.calls.start({
        userId: 'ann',
        toolkit: 'web',
        tool: 'send',
        arguments: {},
        caller: { type: 'direct' },
      })
      await answer((await running.pending).id, { decision: 'allow', remember: 'tool' })
      await running.outcome
      expect(await remembered()).toBe('allow')
    })

    it.each([
      ['another url', { url: 'https://two.example/mcp' }],
      ['another header', { headers: { 'X-Key': 'first', 'X-More': 'x' } }],
      ['another auth', { auth: { type: 'bearer', token: 't' } }],
      ['another transport', { type: 'sse' }],
      ['an override', { overrides: { send: { title: 'Sends' } } }],
    ])('is void after a change of %s', async (_, change) => {
      await host.toolkits.update('web', change, owner)
      expect(await remembered()).toBeUndefined()
    })

    it.each([
      ['a label', { name: 'Renamed' }],
      ['an account', { account: 'mine' }],
      ['the switch', { enabled: false }],
      ['a timeout', { timeouts: { callMs: 5 } }],
      ['a rotated secret', { headers: { 'X-Key': 'second' } }],
    ])('survives a change of %s', async (_, change) => {
      await host.toolkits.update('web', change, owner)
      expect(await remembered()).toBe('allow')
    })
  })
})

describe('call limits', () => {
  const look = (threadId?: string) =>
    host.calls.start({
      userId: 'ann',
      toolkit: 'mail',
      tool: 'look',
      arguments: {},
      caller: { type: 'direct' },
      threadId,
    }).outcome

  it('per hour use the lowest of user, thread and operator and report which one and when it resets', async () => {
    await host.app.update({ limits: { maxCallsPerHour: 5 } })
    await host.preferences.update('ann', { costLimits: { maxCallsPerHour: 100 } })
    await host.threads.create('ann', { id: 'small', settings: { limits: { maxCallsPerHour: 2 } } })
    expect((await look('small')).status).toBe('ok')
    expect((await look('small')).status).toBe('ok')
    const thread = await look('small')
    expect(thread).toMatchObject({ status: 'limited', error: { code: 'limit-reached', status: 429 } })
    expect('error' in thread && thread.error.message).toMatch(/maxCallsPerHour is 2 for this thread; it resets at 20/)
    // What the thread refused did not count for the user.
    for (let left = 3; left > 0; left--) expect((await look()).status).toBe('ok')
    const user = await look()
    expect('error' in user && user.error.message).toContain('maxCallsPerHour is 5 for this user')
    expect(await host.usage('ann')).toMatchObject({ callsThisHour: { used: 5, limit: 5 } })
  })

  it('for tokens per day count call results', async () => {
    await host.app.update({ limits: { maxTokensPerDay: 3 } })
    expect((await look()).status).toBe('ok')
    await vi.waitFor(async () => expect((await host.usage('ann')).tokensToday.used).toBeGreaterThan(0), {
      timeout: 60_000,
    })
    for (let tries = 0; tries < 5; tries++) await look()
    expect(await look()).toMatchObject({
      status: 'limited',
      error: { message: expect.stringContaining('maxTokensPerDay is 3') },
    })
  })

  it('apply to argument size, concurrent calls and call duration', async () => {
    await host.rules.set({}, [rule('*', 'allow')])
    await host.app.update({ limits: { argumentBytes: 20, concurrencyPerToolkit: 1 } })
    const large = await start({ to: 'x'.repeat(50) }).outcome
    expect('error' in large && large.error.message).toContain('argumentBytes is 20')
    let gate = Promise.withResolvers<void>()
    const slow = { name: 'wait', inputSchema: { type: 'object' }, execute: () => gate.promise }
    await host.toolkits.register({ name: 'slow', tools: [slow] }, owner)
    const wait = () =>
      host.calls.start({ userId: 'ann', toolkit: 'slow', tool: 'wait', arguments: {}, caller: { type: 'direct' } })
        .outcome
    const both = [wait(), wait()]
    // The call that runs waits at the gate, so the other one ends first.
    expect((await Promise.race(both)).status).toBe('limited')
    gate.resolve()
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual(['limited', 'ok'])
    expect((await wait()).status).toBe('ok')
    gate = Promise.withResolvers()
    await host.app.update({ limits: { callMs: 50 } })
    expect(await wait()).toMatchObject({
      status: 'limited',
      error: { message: expect.stringContaining('callMs is 50') },
    })
  })
})
