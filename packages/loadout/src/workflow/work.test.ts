/** Runs of workflows over tools that are functions: order, branches, maps, errors, waiting, and running again. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { quickjs } from '../code-mode/quickjs.ts'
import type { HostEvent } from '../events.ts'
import { createHost, type Host } from '../host.ts'
import { rule } from '../policy/rule.ts'
import type { RunView } from '../schema/run.ts'
import type { Agent } from './agent.ts'

let host: Host
let made: string[]
let events: HostEvent[]
let agent: Agent | undefined
let atOnce: { now: number; most: number }
/** What calls wait for, by name. */
let gates: Map<string, Promise<void>>
let failing: Map<string, number>

const tool = (name: string, execute: (input: never) => unknown, annotations: object = {}) => ({
  ...{ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, annotations },
  execute: async (input: never) => {
    made.push(`${name}${JSON.stringify(input)}`)
    atOnce.most = Math.max(atOnce.most, ++atOnce.now)
    await gates.get(name)
    atOnce.now--
    const left = failing.get(name) ?? 0
    if (left > 0) {
      failing.set(name, left - 1)
      throw new Error(`${name} broke`)
    }
    return execute(input)
  },
})

beforeEach(async () => {
  made = []
  events = []
  agent = undefined
  atOnce = { now: 0, most: 0 }
  gates = new Map()
  failing = new Map()
  host = createHost({
    executor: quickjs({ spares: 1 }),
    policy: [rule('*.ask_*', 'ask'), rule('*', 'allow')],
    agent: (request) => (agent as Agent)(request),
  })
  await host.ready()
  const tools = [
    tool('get', (input: object) => ({ ...input, got: true }), { readOnlyHint: true }),
    tool('write', (input: { n?: number }) => ({ wrote: input.n ?? 0 })),
    tool('list', ({ count }: { count: number }) => ({ items: Array.from({ length: count }, (_, n) => ({ n })) })),
    tool('ask_me', () => 'asked'),
    tool('slow', () => 'slow'),
  ]
  await host.toolkits.register({ name: 'kit', tools }, { tier: 'user', userId: 'ann' })
  host.events.on((event) => events.push(event))
})
afterEach(() => host.close())

const kit = (id: string, name: string, more: object = {}) => ({ id, type: 'tool', ref: `kit.${name}`, ...more })
const run = (nodes: object[], more: { input?: unknown; output?: unknown; schema?: object } = {}) => {
  const { input, output, schema } = more
  const definition = {
    name: 'w',
    nodes,
    ...(output === undefined ? {} : { output }),
    ...(schema ? { input: schema } : {}),
  }
  return host.workflows.run('ann', { definition, input })
}
const told = (node: string) =>
  events.flatMap((one) => (one.type === 'run-node' && one.node === node ? [one.status] : []))
const answer = async (view: RunView, decision: 'allow' | 'deny') => {
  for (const { approvalId } of view.steps.filter((step) => step.status === 'paused'))
    await host.approvals.answer('ann', approvalId ?? '', { decision })
  return host.runs.settled('ann', view.id)
}

describe('nodes', () => {
  it('get what earlier ones gave, and the last ones are the output', async () => {
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
    expect(told('b')).toEqual(['queued', 'running', 'completed'])
  })

  it('run as soon as what they need is there', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.set('slow', promise)
    const going = run([
      kit('s', 'slow'),
      kit('a', 'get'),
      kit('b', 'write', { after: ['a'] }),
      kit('end', 'get', { after: ['s', 'b'] }),
    ])
    await expect.poll(() => made.length).toBe(3)
    expect(told('s')).toEqual(['queued', 'running'])
    expect(told('b')).toContain('completed')
    resolve()
    expect((await going).status).toBe('completed')
    expect(made.at(-1)).toBe('get{}')
  })

  it('an output of its own; inputs with defaults, held against their schema', async () => {
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

  it('a fault of an expression is the error of its node, with its field', async () => {
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
  it('choose, skip what is not chosen with what waits for it, and meet again', async () => {
    const done = await run(nodes, { input: { n: 11 } })
    expect(done.status).toBe('completed')
    expect(made.map((one) => one.split('{')[0]).sort()).toEqual(['get', 'list', 'write'])
    expect([told('no'), told('no2'), told('after_yes').at(-1)]).toEqual([['skipped'], ['skipped'], 'completed'])
    made.length = 0
    await run(nodes, { input: { n: 1 } })
    expect(made).toEqual(['get{}', 'get{}', 'list{"count":1,"was":"skipped"}'])
  })

  it('a condition that is none fails', async () => {
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
  it('give what came of each, in their order, so many at once', async () => {
    const done = await run(each(), { input: { count: 10 } })
    expect(done.output).toEqual(Array.from({ length: 10 }, (_, n) => ({ wrote: n * 11 })))
    expect(atOnce.most).toBeLessThanOrEqual(3)
    expect(atOnce.most).toBeGreaterThan(1)
    expect((await run(each(), { input: { count: 0 } })).output).toEqual([])
  })

  it('an item that fails is null, has a value, or ends it', async () => {
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

  it('of maps; and over what is no list', async () => {
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

describe('what fails', () => {
  it('is tried again as often as it says, each try a step', async () => {
    failing.set('write', 2)
    const done = await run([kit('a', 'write', { retry: { attempts: 3, backoffMs: 1 } })])
    expect(done).toMatchObject({ status: 'completed', output: { wrote: 0 } })
    expect(done.steps.map(({ status }) => status)).toEqual(['failed', 'failed', 'completed'])
    failing.set('write', 2)
    expect((await run([kit('a', 'write', { retry: { attempts: 2, backoffMs: 1 } })])).status).toBe('failed')
  })

  it('goes on, has a value, or another node in its place', async () => {
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

  it('lets those under way come to their end, and begins no other', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.set('slow', promise)
    failing.set('write', 1)
    const going = run([
      kit('s', 'slow'),
      kit('a', 'write'),
      kit('b', 'get', { after: ['a'] }),
      kit('c', 'get', { after: ['s'] }),
    ])
    await expect.poll(() => told('a').at(-1)).toBe('failed')
    resolve()
    const done = await going
    expect(done).toMatchObject({ status: 'failed', error: { node: 'a', reason: 'tool-error' } })
    expect(done.steps.find(({ request }) => (request as { node: string }).node === 's')?.status).toBe('completed')
    expect(made.some((one) => one.startsWith('get'))).toBe(false)
  })

  it('a node that takes too long ends as that', async () => {
    gates.set('slow', new Promise(() => {}))
    const done = await run([kit('s', 'slow', { timeoutMs: 30, retry: { attempts: 3, backoffMs: 1 } })])
    expect(done).toMatchObject({ status: 'failed', error: { reason: 'server-timeout' } })
    // What may have happened is not done again.
    expect(made).toHaveLength(1)
  })
})

describe('programs', () => {
  it('call tools, each a step of the run; what they log and give is kept', async () => {
    const program = `const { items } = await kit.list({ count: input.n })
      console.log('got', items.length)
      const all = await Promise.all(items.map(({ n }) => kit.write({ n })))
      return { sum: all.reduce((sum, { wrote }) => sum + wrote, 0), at: typeof Date.now() }`
    const done = await run([{ id: 'p', type: 'code', program, input: { n: '{{ input.n }}' }, tools: ['kit'] }], {
      input: { n: 4 },
    })
    expect(done).toMatchObject({
      status: 'completed',
      output: { sum: 6, at: 'number' },
      logs: [{ text: 'got 4' }],
      usage: { calls: 5 },
    })
    expect(done.steps.filter(({ kind }) => kind === 'call')).toHaveLength(5)
  })

  it('have nothing that the node does not name', async () => {
    const program = `try { return await call('kit.write', {}) } catch (error) { return error.code }`
    expect((await run([{ id: 'p', type: 'code', program, tools: ['kit.get'] }])).output).toBe('not-carried')
    expect(made).toEqual([])
  })

  it('wait for a person, and do nothing twice', async () => {
    const program = `const a = await kit.write({ n: 1 })
      const chance = Math.random()
      const word = await kit.ask_me({})
      const b = await kit.write({ n: 2 })
      return [a.wrote, word, b.wrote, chance === Math.random()]`
    const paused = await run([{ id: 'p', type: 'code', program, tools: ['kit'] }, kit('x', 'get')])
    expect(paused.status).toBe('paused')
    const done = await answer(paused, 'allow')
    expect(done).toMatchObject({ status: 'completed', output: { p: [1, 'asked', 2, false] } })
    expect(made.filter((one) => !one.startsWith('get'))).toEqual(['write{"n":1}', 'ask_me{}', 'write{"n":2}'])
    expect(made.filter((one) => one.startsWith('get'))).toHaveLength(1)
  })

  it('that break fail their node, with the line', async () => {
    const done = await run([{ id: 'p', type: 'code', program: 'const a = 1\nthrow new Error("mine")' }])
    expect(done).toMatchObject({ status: 'failed', error: { node: 'p', reason: 'program-error' } })
    expect(done.error?.message).toContain('mine (line 2)')
  })
})

describe('a person is asked', () => {
  const nodes = [
    kit('a', 'write', { arguments: { n: 1 } }),
    {
      id: 'ok',
      type: 'approval',
      message: 'Send {{ nodes.a.output.wrote }}?',
      arguments: { n: '{{ nodes.a.output.wrote }}' },
    },
    kit('send', 'write', { arguments: { n: 2 }, after: ['ok'] }),
    kit('side', 'get'),
  ]
  it('by a node: the rest goes on, the answer goes on', async () => {
    const paused = await run(nodes)
    expect(paused.status).toBe('paused')
    expect(made).toHaveLength(2)
    expect(told('ok')).toEqual(['queued', 'running', 'paused'])
    const [open] = await host.approvals.list('ann', { status: 'pending' })
    expect(open).toMatchObject({
      ref: 'workflow.ok',
      reason: 'Send 1?',
      arguments: { n: 1 },
      caller: { type: 'workflow', toolId: paused.id },
    })
    const done = await answer(paused, 'allow')
    expect(done).toMatchObject({ status: 'completed', output: { send: { wrote: 2 } } })
    expect(made).toHaveLength(3)
  })

  it('denied, the node fails, or is what it says', async () => {
    expect(await answer(await run(nodes), 'deny')).toMatchObject({
      status: 'failed',
      error: { node: 'ok', reason: 'denied' },
    })
    const softer = nodes.map((node) => (node.id === 'ok' ? { ...node, onError: { value: { approved: false } } } : node))
    const output = '{{ nodes.ok.output.approved }}'
    const paused = await run(softer, { output })
    expect((await answer(paused, 'deny')).output).toBe(false)
  })

  it('by the policy: in a map each item for itself', async () => {
    const paused = await run([
      { id: 'm', type: 'map', over: '[1, 2, 3]', node: 'one', concurrency: 3 },
      kit('one', 'ask_me', { arguments: { n: '{{ item }}' } }),
      kit('w', 'write'),
    ])
    expect(paused.steps.map(({ status }) => status).sort()).toEqual(['completed', 'paused', 'paused', 'paused'])
    const done = await answer(paused, 'allow')
    await expect.poll(async () => (await host.runs.get('ann', done.id)).status).toBe('completed')
    expect(made).toHaveLength(4)
  })

  it('a run that fails takes its questions back', async () => {
    failing.set('write', 1)
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.set('write', promise)
    const going = run([{ id: 'ok', type: 'approval', message: 'Well?' }, kit('w', 'write')])
    await expect.poll(async () => (await host.approvals.list('ann', { status: 'pending' })).length).toBe(1)
    resolve()
    expect((await going).status).toBe('failed')
    expect(await host.approvals.list('ann', { status: 'pending' })).toEqual([])
  })
})

describe('agents', () => {
  it('call by the pipeline; what was said and done is not asked or done again', async () => {
    const asked: string[] = []
    agent = async ({ remember, call, prompt, loadout }) => {
      const said = await remember('model-0', async () => {
        asked.push(prompt)
        return { calls: ['1', '2'] }
      })
      const results = await Promise.all(
        (said.calls as string[]).map((id) =>
          call({ id, name: id === '1' ? 'kit.write' : 'kit.ask_me', arguments: { n: Number(id) } }),
        ),
      )
      const last = await remember('model-1', async () => {
        asked.push('again')
        return 'the answer'
      })
      return {
        output: {
          last,
          tools: loadout.tools.map(({ tool: name }) => name),
          statuses: results.map(({ status }) => status),
        },
        usage: { inputTokens: 10 },
      }
    }
    const paused = await run(
      [{ id: 'g', type: 'agent', prompt: 'Do {{ input.what }}', tools: ['kit.write', 'kit.ask_*'] }],
      { input: { what: 'it' } },
    )
    expect(paused.status).toBe('paused')
    const done = await answer(paused, 'allow')
    expect(done).toMatchObject({
      status: 'completed',
      output: { last: 'the answer', tools: ['write', 'ask_me'], statuses: ['ok', 'ok'] },
      usage: { inputTokens: 10, calls: 2 },
    })
    expect(asked).toEqual(['Do it', 'again'])
    expect(made).toEqual(['write{"n":1}', 'ask_me{"n":2}'])
  })

  it('that ask for something else the second time are stopped before they do it', async () => {
    let times = 0
    agent = async ({ call }) => {
      times++
      await call({ id: `a${times}`, name: 'kit.write', arguments: { n: times } })
      await call({ id: `b${times}`, name: 'kit.ask_me', arguments: {} })
      return { output: null }
    }
    const paused = await run([{ id: 'g', type: 'agent', prompt: 'x', tools: ['kit'] }])
    const done = await answer(paused, 'allow')
    expect(done).toMatchObject({ status: 'failed', error: { code: 'run-drift' } })
    expect(made).toEqual(['write{"n":1}'])
  }, 30_000)

  it('have only the tools of their node, and give what fits', async () => {
    agent = async ({ call }) => ({
      output: { status: (await call({ id: '1', name: 'kit.write', arguments: {} })).status },
    })
    const schema = { type: 'object', required: ['answer'] }
    const done = await run([{ id: 'g', type: 'agent', prompt: 'x', tools: ['kit.get'], output: schema }])
    expect(done).toMatchObject({ status: 'failed', error: { reason: 'invalid-output' } })
    expect(made).toEqual([])
  })
})

describe('a run', () => {
  it('that is cancelled gives up what is under way', async () => {
    gates.set('slow', new Promise(() => {}))
    const started = await host.workflows.start('ann', {
      definition: { name: 'w', nodes: [kit('s', 'slow'), kit('n', 'get', { after: ['s'] })] },
    })
    await expect.poll(() => made.length).toBe(1)
    await host.runs.cancel('ann', started.id)
    expect((await host.runs.settled('ann', started.id)).status).toBe('cancelled')
    expect(made).toHaveLength(1)
  })

  it('is done again from a node, with what was completed before', async () => {
    const nodes = [
      kit('a', 'write', { arguments: { n: 1 } }),
      kit('b', 'write', { arguments: { n: '{{ nodes.a.output.wrote + 1 }}' } }),
      kit('c', 'slow', { after: ['b'] }),
      kit('side', 'get', { arguments: { x: 1 } }),
    ]
    failing.set('slow', 1)
    const failed = await run(nodes)
    expect(failed).toMatchObject({ status: 'failed', error: { node: 'c' } })
    const again = await host.workflows.rerun('ann', failed.id, { from: 'b' })
    const done = await host.runs.settled('ann', again.id)
    expect(done).toMatchObject({ status: 'completed', output: { c: 'slow', side: { x: 1 } } })
    expect(made.filter((one) => one === 'write{"n":1}')).toHaveLength(1)
    expect(made.filter((one) => one === 'write{"n":2}')).toHaveLength(2)
    expect(made.filter((one) => one.startsWith('get'))).toHaveLength(1)
    await expect(host.workflows.rerun('ann', failed.id, { from: 'ghost' })).rejects.toMatchObject({
      code: 'invalid-input',
    })
    await expect(host.workflows.rerun('bob', failed.id, { from: 'b' })).rejects.toMatchObject({ code: 'not-found' })
  })
})
