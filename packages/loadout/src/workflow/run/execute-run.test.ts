/** Runs of workflows over tools that are functions: order, branches, maps and errors. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { kit, openWorkflowHost, type WorkflowHost } from '../../../test/fixtures/workflow-host.ts'

let world: WorkflowHost
let made: string[]
let atOnce: WorkflowHost['atOnce']
let gates: WorkflowHost['gates']
let failing: WorkflowHost['failing']
let run: WorkflowHost['run']
let statusesOf: WorkflowHost['reportsOf']

beforeEach(async () => {
  world = await openWorkflowHost()
  ;({ made, atOnce, gates, failing, run, reportsOf: statusesOf } = world)
})
afterEach(async () => {
  vi.useRealTimers()
  await world.host.close()
})

describe('nodes', () => {
  it('receive earlier outputs, and the last nodes form the output of the run', async () => {
    const done = await run(
      [
        kit('a', 'get', { arguments: { city: '{{ input.city }}' } }),
        kit('b', 'write', { arguments: { n: '{{ size(nodes.a.output.city) }}', text: 'in {{nodes.a.output.city}}' } }),
      ],
      { input: { city: 'Rome' } },
    )
    expect(done).toMatchObject({ status: 'completed', output: { wrote: 4 }, kind: 'workflow', usage: { calls: 2 } })
    expect(made).toEqual(['get{"city":"Rome"}', 'write{"n":4,"text":"in Rome"}'])
    expect(done.steps.map(({ kind, request }) => [kind, (request as { node: string }).node])).toEqual([
      ['call', 'a'],
      ['call', 'b'],
    ])
    expect(statusesOf('b')).toEqual(['queued', 'running', 'completed'])
  })

  it('run as soon as their dependencies are complete', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.set('slow', promise)
    const going = run([
      kit('s', 'slow'),
      kit('a', 'get'),
      kit('b', 'write', { after: ['a'] }),
      kit('end', 'get', { after: ['s', 'b'] }),
    ])
    await expect.poll(() => made.length).toBe(3)
    expect(statusesOf('s')).toEqual(['queued', 'running'])
    expect(statusesOf('b')).toContain('completed')
    resolve()
    expect((await going).status).toBe('completed')
    expect(made.at(-1)).toBe('get{}')
  })

  it('support a custom output and inputs with defaults that are validated against the schema', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number', default: 3 } } }
    const done = await run([kit('a', 'write', { arguments: { n: '{{ input.n }}' } })], {
      schema,
      output: { all: '{{ nodes.a.output.wrote }}', s: '{{ nodes.a.status }}' },
    })
    expect(done.output).toEqual({ all: 3, s: 'completed' })
    await expect(run([kit('a', 'get')], { schema, input: { n: 'x' } })).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: 'input.n' }],
    })
  })

  it('fail with the field name when an expression fails', async () => {
    const done = await run([kit('a', 'get', { arguments: { x: '{{ input.deep.er }}' } })], { input: { deep: 1 } })
    expect(done).toMatchObject({
      status: 'failed',
      error: { code: 'workflow-failed', node: 'a', reason: 'expression-failed' },
    })
    expect(done.error?.message).toContain('Node \'a\', arguments: x: "er" cannot be read of a number')
    expect(made).toEqual([])
  })
})

describe('branches', () => {
  const nodes = [
    { id: 'big', type: 'branch', when: 'input.n > 10', onTrue: ['yes'], onFalse: ['no', 'no2'] },
    kit('yes', 'write'),
    kit('no', 'get'),
    kit('no2', 'get', { after: ['no'] }),
    kit('after_yes', 'get', { after: ['yes'] }),
    kit('join', 'list', { after: ['yes', 'no2'], arguments: { count: 1, was: '{{ nodes.yes.status }}' } }),
  ]
  it('choose a side, skip the other side with its dependents and join again', async () => {
    const done = await run(nodes, { input: { n: 11 } })
    expect(done.status).toBe('completed')
    expect(made.map((one) => one.split('{')[0]).sort()).toEqual(['get', 'list', 'write'])
    expect([statusesOf('no'), statusesOf('no2'), statusesOf('after_yes').at(-1)]).toEqual([
      ['skipped'],
      ['skipped'],
      'completed',
    ])
    made.length = 0
    await run(nodes, { input: { n: 1 } })
    expect(made).toEqual(['get{}', 'get{}', 'list{"count":1,"was":"skipped"}'])
  })

  it('fail when their condition cannot be evaluated', async () => {
    expect(await run(nodes, { input: { n: 'x' } })).toMatchObject({
      status: 'failed',
      error: { node: 'big', reason: 'expression-failed' },
    })
  })
})

describe('maps', () => {
  const each = (more: object = {}, body: object = {}) => [
    kit('l', 'list', { arguments: { count: '{{ input.count }}' } }),
    { id: 'm', type: 'map', over: 'nodes.l.output.items', node: 'one', as: 'entry', concurrency: 3, ...more },
    kit('one', 'write', { arguments: { n: '{{ entry.n * 10 + index }}' }, ...body }),
  ]
  it('return results in order and limit their concurrency', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.set('write', promise)
    const going = run(each(), { input: { count: 10 } })
    await expect.poll(() => atOnce.now).toBe(3)
    resolve()
    expect((await going).output).toEqual(Array.from({ length: 10 }, (_, n) => ({ wrote: n * 11 })))
    expect(atOnce.most).toBe(3)
    expect((await run(each(), { input: { count: 0 } })).output).toEqual([])
  })

  it('return null or a value for a failed item, or fail', async () => {
    failing.set('write', 1)
    expect((await run(each({ concurrency: 1 }, { onError: 'continue' }), { input: { count: 2 } })).output).toEqual([
      null,
      { wrote: 11 },
    ])
    failing.set('write', 1)
    const valued = each({ concurrency: 1 }, { onError: { value: { of: '{{ index }}', why: '{{ error.message }}' } } })
    expect((await run(valued, { input: { count: 2 } })).output).toEqual([{ of: 0, why: 'write broke' }, { wrote: 11 }])
    failing.set('write', 1)
    made.length = 0
    const failed = await run(each({ concurrency: 1 }), { input: { count: 5 } })
    expect(failed).toMatchObject({
      status: 'failed',
      error: { node: 'm', message: "Node 'm' failed: Item 0: write broke" },
    })
    expect(made).toHaveLength(2)
  })

  it('process a long list completely and fail when the list is too large', async () => {
    const list = (count: number) => kit('l', 'list', { arguments: { count, more: { text: 'x'.repeat(100) } } })
    const one = kit('one', 'get', { arguments: { n: '{{ entry.n }}' } })
    const [, map = {}] = each({ concurrency: 64 })
    expect((await run([list(2000), map, one])).output).toHaveLength(2000)
    const more = await run([list(40_000), map, one])
    expect(more).toMatchObject({ status: 'failed', error: { node: 'l', reason: 'response-too-large' } })
  })

  it('can be nested and fail when their input is not a list', async () => {
    const nodes = [
      { id: 'm', type: 'map', over: 'input.rows', node: 'inner', as: 'row' },
      { id: 'inner', type: 'map', over: 'row', node: 'one', as: 'cell' },
      kit('one', 'write', { arguments: { n: '{{ cell }}', of: '{{ size(row) }}' } }),
    ]
    expect((await run(nodes, { input: { rows: [[1, 2], [3]] } })).output).toEqual([
      [{ wrote: 1 }, { wrote: 2 }],
      [{ wrote: 3 }],
    ])
    expect(await run(nodes, { input: { rows: 'x' } })).toMatchObject({
      status: 'failed',
      error: { reason: 'expression-failed' },
    })
  })
})

describe('a failed node', () => {
  it('is retried up to its limit, with each attempt as a step', async () => {
    failing.set('write', 2)
    const done = await run([kit('a', 'write', { retry: { attempts: 3, backoffMs: 1 } })])
    expect(done).toMatchObject({ status: 'completed', output: { wrote: 0 } })
    expect(done.steps.map(({ status }) => status)).toEqual(['failed', 'failed', 'completed'])
    failing.set('write', 2)
    expect((await run([kit('a', 'write', { retry: { attempts: 2, backoffMs: 1 } })])).status).toBe('failed')
  })

  it('continues, uses a value or runs another node, depending on onError', async () => {
    for (const [onError, output] of [
      ['continue', { out: null, code: 'tool-error', status: 'failed' }],
      [{ value: { none: true } }, { out: { none: true }, code: 'tool-error', status: 'completed' }],
      [{ node: 'other' }, { out: { why: 'slow broke', got: true }, code: 'none', status: 'completed' }],
    ] as const) {
      failing.set('slow', 1)
      const nodes = [kit('a', 'slow', { onError }), kit('b', 'write', { after: ['a'] })]
      if (typeof onError === 'object' && 'node' in onError)
        nodes.push(kit('other', 'get', { arguments: { why: '{{ error.message }}' } }))
      const done = await run(nodes, {
        output: {
          out: '{{ nodes.a.output }}',
          code: '{{ nodes.a.error == null ? "none" : nodes.a.error.code }}',
          status: '{{ nodes.a.status }}',
        },
      })
      expect(done.output).toEqual(output)
    }
  })

  it('lets running nodes finish and starts no others', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.set('slow', promise)
    failing.set('write', 1)
    const going = run([
      kit('s', 'slow'),
      kit('a', 'write'),
      kit('b', 'get', { after: ['a'] }),
      kit('c', 'get', { after: ['s'] }),
    ])
    await expect.poll(() => statusesOf('a').at(-1)).toBe('failed')
    resolve()
    const done = await going
    expect(done).toMatchObject({ status: 'failed', error: { node: 'a', reason: 'tool-error' } })
    expect(done.steps.find(({ request }) => (request as { node: string }).node === 's')?.status).toBe('completed')
    expect(made.some((one) => one.startsWith('get'))).toBe(false)
  })

  it('has the timeout as its error when it takes too long', async () => {
    gates.set('slow', new Promise(() => {}))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const going = run([kit('s', 'slow', { timeoutMs: 30, retry: { attempts: 3, backoffMs: 1 } })])
    await expect.poll(() => made.length).toBe(1)
    let isOver = false
    void going.then(() => {
      isOver = true
    })
    while (!isOver) await vi.advanceTimersByTimeAsync(100)
    const done = await going
    expect(done).toMatchObject({ status: 'failed', error: { reason: 'server-timeout' } })
    // What may have happened is not done again.
    expect(made).toHaveLength(1)
  })
})
