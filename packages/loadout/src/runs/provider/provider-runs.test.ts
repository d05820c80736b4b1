/** Programs that a provider runs, over tools that are functions: a run with its steps, each call made once, whoever asks again. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CallOutcome } from '../../calls/call.ts'
import type { Selection } from '../../calls/selection.ts'
import { quickjs } from '../../code-mode/quickjs.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import type { ProviderProgram } from '../../schema/records/program.ts'
import { runView } from '../../schema/records/run.ts'
import { memory } from '../../storage/memory.ts'
import type { Storage } from '../../storage/storage.ts'

const ann = { userId: 'ann', threadId: 'work' }
const runningProgram: ProviderProgram = { provider: 'anthropic', id: 'srvtoolu_1', code: 'print(1)', status: 'running' }

let storage: Storage
let hosts: HostServices[]
let made: string[]
let gate: Promise<void>

const tool = (name: string, execute: (input: never) => unknown, annotations: object = {}) => ({
  name,
  description: `Does ${name}.`,
  annotations,
  inputSchema: { type: 'object', properties: { password: { type: 'string' } } },
  execute: async (input: never) => {
    made.push(name)
    await gate
    return execute(input)
  },
})

async function open(): Promise<HostServices> {
  const host = createServices({
    storage,
    processLeaseMs: 300,
    policy: [rule('shop.refund', 'ask'), rule('*', 'allow')],
  })
  hosts.push(host)
  await host.ready()
  const tools = [
    tool('orders', () => ({ orders: [1, 2] }), { readOnlyHint: true }),
    tool('pay', ({ id }: { id: number }) => `paid ${id}`),
    tool('refund', () => 'refunded'),
    tool('broken', () => {
      throw new Error('it broke')
    }),
  ]
  await host.toolkits.register({ name: 'shop', tools }, { tier: 'app' })
  await host.toolkits.register(
    { name: 'by-hand', tools: [tool('sign', () => 'signed')], allowedCallers: ['direct'] },
    { tier: 'app' },
  )
  return host
}

beforeEach(() => {
  storage = memory()
  hosts = []
  made = []
  gate = Promise.resolve()
})
afterEach(async () => {
  for (const host of hosts) await host.close()
})

const resolve = (host: HostServices): Promise<Selection> =>
  host.thread(ann).select({ prompt: 'orders of the shop', limit: 10 })
const by = (selection: Selection, [name, id]: [name: string, id: string], args = {}): Promise<CallOutcome> =>
  selection.call({ name, id, arguments: args, caller: { type: 'code', toolId: 'srvtoolu_1' } })
const first = <T>(all: readonly T[]): T => all[0] as T

describe('a provider program', () => {
  it('is a run with steps from start to end, without secrets', async () => {
    const host = await open()
    const selection = await resolve(host)
    const runId = first(await selection.follow([runningProgram]))
    await by(selection, ['shop.orders', 'toolu_1'], { password: 'hunter2hunter2' })
    await by(selection, ['shop.broken', 'toolu_2'])
    const running = await host.runs.get('ann', runId)
    expect(running).toMatchObject({
      kind: 'program',
      status: 'running',
      threadId: 'work',
      steps: [
        {
          kind: 'program',
          status: 'started',
          request: { program: 'srvtoolu_1', provider: 'anthropic', code: 'print(1)' },
        },
        { kind: 'call', seq: 1, status: 'completed', request: { ref: 'shop.orders' } },
        { kind: 'call', seq: 2, status: 'failed', request: { ref: 'shop.broken' }, error: { code: 'tool-error' } },
      ],
    })
    expect(JSON.stringify(running)).not.toContain('hunter2')
    expect(() => runView.parse(running)).not.toThrow()
    expect(await selection.follow([{ ...runningProgram, status: 'completed', output: '3' }])).toEqual([runId])
    const done = await host.runs.settled('ann', runId)
    expect(done).toMatchObject({ status: 'completed', output: '3', usage: { calls: 2 } })
    expect(first(done.steps).status).toBe('completed')
  })

  it('records its caller and its run in the call log', async () => {
    const host = await open()
    const selection = await resolve(host)
    const runId = first(await selection.follow([runningProgram]))
    await by(selection, ['shop.orders', 'toolu_1'])
    const { items } = await host.audit.list({ userId: 'ann' }, {})
    const lines = items.filter(({ ref }) => ref === 'shop.orders')
    expect(lines.map((line) => [line.runId, line.threadId])).toEqual([
      [runId, 'work'],
      [runId, 'work'],
    ])
    expect(lines.map(({ detail }) => detail.caller)).toContain('code')
  })

  it('makes no second call when it is read again at once, later or in another process', async () => {
    const host = await open()
    const selection = await resolve(host)
    const both = await Promise.all([
      by(selection, ['shop.pay', 'toolu_1'], { id: 1 }),
      by(selection, ['shop.pay', 'toolu_1'], { id: 1 }),
    ])
    const again = await by(selection, ['shop.pay', 'toolu_1'], { id: 1 })
    const other = await by(await resolve(await open()), ['shop.pay', 'toolu_1'], { id: 1 })
    for (const outcome of [...both, again, other])
      expect(outcome).toMatchObject({ status: 'ok', content: [{ text: 'paid 1' }] })
    expect(made).toEqual(['pay'])
    expect(await by(selection, ['shop.pay', 'toolu_1'], { id: 2 })).toMatchObject({ error: { code: 'run-drift' } })
    expect(await host.runs.list('ann')).toHaveLength(1)
  })

  it('makes a call once when two processes ask at once, and the second one waits', async () => {
    const [one, two] = [await resolve(await open()), await resolve(await open())]
    const go = Promise.withResolvers<void>()
    gate = go.promise
    const outcomes = [one, two].map((selection) => by(selection, ['shop.pay', 'toolu_1'], { id: 1 }))
    await expect.poll(() => made).toEqual(['pay'])
    go.resolve()
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ status: 'ok' })
    expect(made).toEqual(['pay'])
  })

  it('starts with its first call if it was not announced and rejects tools that programs may not call', async () => {
    const host = await open()
    const outcome = await by(await resolve(host), ['by-hand.sign', 'toolu_1'])
    expect(outcome).toMatchObject({ status: 'denied', error: { code: 'not-carried' } })
    expect((outcome as { error: Error }).error.message).toContain('may not be called by "code"')
    const run = await host.runs.get('ann', first(await host.runs.list('ann')).id)
    expect(run.steps[1]).toMatchObject({ status: 'failed', error: { code: 'not-carried' } })
    expect(made).toEqual([])
  })

  it('cannot start a Loadout program', async () => {
    await using host = createServices({ executor: quickjs(), policy: [rule('*', 'allow')] })
    const outcome = await by(await resolve(host), ['run_code', 'toolu_1'], { program: 'return 1' })
    expect(outcome).toMatchObject({ status: 'denied', error: { code: 'not-carried' } })
    expect((await host.runs.list('ann')).map(({ status }) => status)).toEqual(['running'])
  })

  it('waits for an approval, and its run shows the request', async () => {
    const host = await open()
    const selection = await resolve(host)
    const pending = Promise.withResolvers<string>()
    const outcome = selection.call({
      name: 'shop.refund',
      id: 'toolu_1',
      arguments: {},
      caller: { type: 'code', toolId: 'srvtoolu_1' },
      onPending: ({ id }) => pending.resolve(id),
    })
    const approvalId = await pending.promise
    const { id } = first(await host.runs.list('ann'))
    await expect
      .poll(async () => (await host.runs.get('ann', id)).steps[1])
      .toMatchObject({ status: 'paused', approvalId })
    expect(await host.approvals.get('ann', approvalId)).toMatchObject({
      ref: 'shop.refund',
      caller: { type: 'code', toolId: 'srvtoolu_1' },
    })
    await host.approvals.answer('ann', approvalId, { decision: 'allow' })
    expect(await outcome).toMatchObject({ status: 'ok' })
    expect((await host.runs.get('ann', id)).steps[1]).toMatchObject({ status: 'completed' })
  })

  it('makes no more calls after it is cancelled and cancels waiting ones', async () => {
    const host = await open()
    const selection = await resolve(host)
    const outcome = by(selection, ['shop.refund', 'toolu_1'])
    await expect.poll(async () => (await host.approvals.list('ann')).length).toBe(1)
    const { id } = first(await host.runs.list('ann'))
    await host.runs.cancel('ann', id)
    expect(await outcome).not.toMatchObject({ status: 'ok' })
    expect(await by(selection, ['shop.orders', 'toolu_2'])).toMatchObject({ error: { code: 'cancelled' } })
    await selection.follow([{ ...runningProgram, status: 'completed', output: '3' }])
    expect((await host.runs.get('ann', id)).status).toBe('cancelled')
    expect(made).toEqual([])
  })

  it('returns stored results after its end, makes no new calls and reports a failure', async () => {
    const host = await open()
    const selection = await resolve(host)
    await by(selection, ['shop.pay', 'toolu_1'], { id: 1 })
    const runId = first(await selection.follow([{ ...runningProgram, status: 'failed', error: 'Traceback: KeyError' }]))
    expect(await host.runs.get('ann', runId)).toMatchObject({
      status: 'failed',
      error: { code: 'program-failed', message: expect.stringContaining('KeyError') },
    })
    expect(await by(selection, ['shop.pay', 'toolu_1'], { id: 1 })).toMatchObject({ status: 'ok' })
    expect(await by(selection, ['shop.pay', 'toolu_2'], { id: 1 })).toMatchObject({ error: { code: 'conflict' } })
    expect(made).toEqual(['pay'])
  })

  it('is private to its user and thread', async () => {
    const host = await open()
    const runId = first(await (await resolve(host)).follow([runningProgram]))
    const bob = await host.thread({ userId: 'bob', threadId: 'work' }).select({ prompt: 'orders', limit: 10 })
    expect(await bob.follow([runningProgram])).not.toEqual([runId])
    await expect(host.runs.get('bob', runId)).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('an interrupted provider call', () => {
  /** As a process that is gone left it. */
  async function leave(host: HostServices, name: string) {
    const selection = await resolve(host)
    await by(selection, [name, 'toolu_1'])
    const { id } = first(await host.runs.list('ann'))
    const stepId = (await host.runs.get('ann', id)).steps[1]?.id ?? ''
    const set = { status: 'started' as const, resultJson: { processId: 'proc_gone' }, endedAt: null }
    await storage.transaction({ userId: 'ann' }, (tx) => tx.update('steps', stepId, { set }))
    made = []
    return { selection, id, stepId }
  }

  it('is repeated if it is read-only', async () => {
    const reads = await leave(await open(), 'shop.orders')
    expect(await by(reads.selection, ['shop.orders', 'toolu_1'])).toMatchObject({ status: 'ok' })
    expect(made).toEqual(['orders'])
  })

  it('is outcome-unknown until a user decides if it is not read-only', async () => {
    const host = await open()
    const { selection, id, stepId } = await leave(host, 'shop.pay')
    for (let times = 0; times < 2; times++)
      expect(await by(selection, ['shop.pay', 'toolu_1'])).toMatchObject({ error: { code: 'outcome-unknown' } })
    expect(made).toEqual([])
    await host.runs.resolve('ann', id, { stepId, decision: 'repeat' })
    expect(await by(selection, ['shop.pay', 'toolu_1'])).toMatchObject({ status: 'ok' })
    expect(made).toEqual(['pay'])
  })

  it('is not taken over, and its program fails after a day', async () => {
    const host = await open()
    const runId = first(await (await resolve(host)).follow([runningProgram]))
    await open()
    expect((await host.runs.get('ann', runId)).status).toBe('running')
    const set = { leaseUntil: new Date(Date.now() - 1) }
    await storage.transaction({ userId: 'ann' }, (tx) => tx.update('runs', runId, { set }))
    await open()
    expect(await host.runs.get('ann', runId)).toMatchObject({ status: 'failed', error: { code: 'program-failed' } })
  })
})
