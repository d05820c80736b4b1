/** What was done, or may have been done, is not done a second time: not by running again from a node, and not by retries. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { kit, openWorkflowHost, type WorkflowHost } from '../fixtures/workflow-host.ts'

let world: WorkflowHost
let host: WorkflowHost['host']
let made: string[]
let gates: WorkflowHost['gates']
let failing: WorkflowHost['failing']
let run: WorkflowHost['run']

beforeEach(async () => {
  world = await openWorkflowHost()
  ;({ host, made, gates, failing, run } = world)
})
afterEach(async () => {
  vi.useRealTimers()
  await world.host.close()
})
/** Timeouts of nodes wait for the test. */
const fakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
/** Advances the time until the run ends: a timer may start after real work, whose time nobody knows. */
async function advanceUntilEnd<T>(going: Promise<T>): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  going.then(over, over)
  while (!isOver) {
    await vi.advanceTimersByTimeAsync(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return going
}

const again = async (runId: string, from: string) =>
  host.runs.settled('ann', (await host.workflows.rerun('ann', runId, { from })).id)
const calls = (name: string) => made.filter((one) => one.startsWith(name)).length

describe('a rerun', () => {
  const nodes = [kit('a', 'slow'), kit('b', 'get'), kit('c', 'write', { after: ['a'] })]
  const hang = () => gates.set('slow', new Promise(() => {}))

  it('requires that the run has ended', async () => {
    hang()
    const { id } = await host.workflows.start('ann', { definition: { name: 'w', nodes } })
    await expect.poll(() => calls('slow')).toBe(1)
    await expect(host.workflows.rerun('ann', id, { from: 'b' })).rejects.toMatchObject({ code: 'conflict' })
    const paused = await run([kit('q', 'ask_me'), kit('b', 'get')])
    await expect(host.workflows.rerun('ann', paused.id, { from: 'b' })).rejects.toMatchObject({ code: 'conflict' })
    await host.runs.cancel('ann', id)
  })

  it('asks before it repeats a call that was in flight', async () => {
    hang()
    const { id } = await host.workflows.start('ann', { definition: { name: 'w', nodes } })
    await expect.poll(() => calls('slow') + calls('get')).toBe(2)
    await host.runs.cancel('ann', id)
    gates.delete('slow')
    const asks = await again(id, 'b')
    expect(asks.status).toBe('outcome-unknown')
    expect(calls('slow')).toBe(1)
    const step = asks.steps.find(({ status }) => status === 'outcome-unknown')
    await host.runs.resolve('ann', asks.id, { stepId: step?.id ?? '', decision: 'repeat' })
    expect(await host.runs.settled('ann', asks.id)).toMatchObject({ status: 'completed', output: { c: { wrote: 0 } } })
    expect(calls('slow')).toBe(2)
  })

  it('asks before it repeats a call that may have happened and repeats a failed call', async () => {
    hang()
    fakeTimers()
    const going = run([kit('a', 'slow', { timeoutMs: 30 }), kit('b', 'get')])
    await expect.poll(() => calls('slow')).toBe(1)
    const late = await advanceUntilEnd(going)
    vi.useRealTimers()
    expect(late).toMatchObject({ status: 'failed', error: { reason: 'server-timeout' } })
    expect((await again(late.id, 'b')).status).toBe('outcome-unknown')
    expect(calls('slow')).toBe(1)
    gates.delete('slow')
    failing.set('slow', 1)
    const failed = await run(nodes)
    expect((await again(failed.id, 'b')).status).toBe('completed')
    expect(calls('slow')).toBe(3)
  })

  it('keeps the results of the nodes in a map', async () => {
    failing.set('write', 2)
    const first = await run([
      { id: 'm', type: 'map', over: '[1, 2, 3]', node: 'one', concurrency: 1 },
      kit('one', 'write', { onError: 'continue' }),
      kit('b', 'get'),
    ])
    expect(first.output).toMatchObject({ m: [null, null, { wrote: 0 }] })
    expect((await again(first.id, 'b')).output).toMatchObject({ m: [null, null, { wrote: 0 }] })
    expect(calls('write')).toBe(3)
  })

  it('replays the recorded answers of a program', async () => {
    failing.set('write', 1)
    const program = `try { await kit.write({ n: 1 }) } catch {}
      await kit.write({ n: 2 })
      throw new Error('mine')`
    const failed = await run([{ id: 'p', type: 'code', program, tools: ['kit'] }, kit('b', 'get')])
    expect(failed.status).toBe('failed')
    expect((await again(failed.id, 'b')).status).toBe('failed')
    expect(calls('write')).toBe(2)
  })
})

describe('a retry', () => {
  const retry = { attempts: 3, backoffMs: 1 }

  it('of a map repeats only the failed items', async () => {
    failing.set('slow', 1)
    const program = `await kit.get({ n: input }); if (input === 3) return kit.slow({}); return (await kit.write({ n: input })).wrote`
    const done = await run([
      { id: 'm', type: 'map', over: '[1, 2, 3, 4]', node: 'one', concurrency: 1, retry },
      { id: 'one', type: 'code', program, input: '{{ item }}', tools: ['kit'] },
    ])
    expect(done).toMatchObject({ status: 'completed', output: [1, 2, 'slow', 4] })
    expect([calls('write'), calls('slow')]).toEqual([3, 2])
    expect((await again(done.id, 'm')).status).toBe('completed')
  })

  it('of a map does not happen when a server may have received the call of an item', async () => {
    gates.set('slow', new Promise(() => {}))
    fakeTimers()
    const going = run([
      { id: 'm', type: 'map', over: '[1, 2]', node: 'one', concurrency: 2, retry },
      kit('one', 'slow', { timeoutMs: 30 }),
    ])
    await expect.poll(() => calls('slow')).toBe(2)
    const done = await advanceUntilEnd(going)
    expect(done.status).toBe('failed')
    expect(calls('slow')).toBe(2)
  })

  it('of a program happens only when the program had no effect', async () => {
    const code = (program: string, more: object = {}) => [
      { id: 'p', type: 'code', program, tools: ['kit'], retry, ...more },
    ]
    const done = await run(code(`await kit.write({}); await kit.write({}); throw new Error('mine')`))
    expect(done).toMatchObject({ status: 'failed', usage: { calls: 2 } })
    expect(calls('write')).toBe(2)
    expect((await run(code(`await kit.get({}); throw new Error('mine')`))).usage).toEqual({ calls: 3 })
    failing.set('write', 2)
    expect(await run(code(`return (await kit.write({ n: 5 })).wrote`))).toMatchObject({
      output: 5,
      usage: { calls: 3 },
    })
    gates.set('slow', new Promise(() => {}))
    fakeTimers()
    const late = run(code('await kit.slow({})', { timeoutMs: 400 }))
    await expect.poll(() => calls('slow')).toBe(1)
    expect((await advanceUntilEnd(late)).status).toBe('failed')
    expect(calls('slow')).toBe(1)
  })

  it('of an agent happens only when the agent had no effect', async () => {
    world.agent = async ({ call, spend }) => {
      spend({ inputTokens: 5 })
      await call({ id: '1', name: 'kit.write', arguments: {} })
      throw new Error('No answer.')
    }
    const nodes = [{ id: 'g', type: 'agent', prompt: 'x', tools: ['kit'], retry }]
    expect(await run(nodes)).toMatchObject({ status: 'failed', usage: { calls: 1, inputTokens: 5 } })
    expect(calls('write')).toBe(1)
    failing.set('write', 3)
    expect((await run(nodes)).usage).toEqual({ calls: 3, inputTokens: 15 })
  })
})

describe('the usage of a run', () => {
  it('excludes steps taken from another run', async () => {
    failing.set('slow', 1)
    const program = `await kit.write({}); return kit.slow({})`
    const nodes = [kit('a', 'write'), { id: 'p', type: 'code', program, tools: ['kit'] }, kit('b', 'get')]
    const failed = await run(nodes)
    expect(failed.usage).toEqual({ calls: 4 })
    expect((await again(failed.id, 'b')).usage).toEqual({ calls: 2 })
  })
})

describe('an idempotency key', () => {
  const nodes = [kit('a', 'write')]

  it('returns the same run after workflow changes and for any kind of principal', async () => {
    const { id: workflowId } = await host.workflows.create('ann', { name: 'w', nodes })
    const start = (more: object = {}) => host.workflows.start('ann', { workflowId, idempotencyKey: 'k', ...more })
    const { id } = await start()
    await host.runs.settled('ann', id)
    const byKey = { principal: { kind: 'api-key' as const, userId: 'ann', keyId: 'key_1' } }
    expect((await start(byKey)).id).toBe(id)
    await host.workflows.update('ann', workflowId, { name: 'w', nodes: [...nodes, kit('b', 'get')] })
    expect((await start()).id).toBe(id)
    await host.workflows.delete('ann', workflowId)
    expect((await start()).id).toBe(id)
    await expect(start({ input: { n: 1 } })).rejects.toMatchObject({ code: 'conflict' })
    expect(calls('write')).toBe(1)
  })

  it('stays free after a rejected start and also applies to reruns', async () => {
    const definition = { name: 'w', nodes: [kit('a', 'write', { after: ['ghost'] })] }
    const start = (definition: unknown) => host.workflows.start('ann', { definition: definition, idempotencyKey: 'k' })
    await expect(start(definition)).rejects.toMatchObject({ code: 'invalid-input' })
    const { id } = await start({ name: 'w', nodes })
    await host.runs.settled('ann', id)
    const rerun = () => host.workflows.rerun('ann', id, { from: 'a', idempotencyKey: 'r' })
    const [one, two] = await Promise.all([rerun(), rerun()])
    expect(one.id).toBe(two.id)
    expect((await rerun()).id).toBe(one.id)
    await host.runs.settled('ann', one.id)
    expect(calls('write')).toBe(2)
  })
})
