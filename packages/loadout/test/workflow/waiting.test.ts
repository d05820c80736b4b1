/** Programs, agents and questions in workflows: they wait, go on, and do nothing twice. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HostError } from '../../src/errors.ts'
import type { HostServices } from '../../src/host/create-services.ts'
import { kit, openWorkflowHost, type WorkflowHost } from '../fixtures/workflow-host.ts'

let world: WorkflowHost
let host: HostServices
let made: string[]
let gates: WorkflowHost['gates']
let failing: WorkflowHost['failing']
let run: WorkflowHost['run']
let reportsOf: WorkflowHost['reportsOf']
let answer: WorkflowHost['answer']

beforeEach(async () => {
  world = await openWorkflowHost()
  ;({ host, made, gates, failing, run, reportsOf, answer } = world)
})
afterEach(() => world.host.close())

describe('programs', () => {
  it('call tools as steps of the run and keep their logs and results', async () => {
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

  it('can call only the tools that their node names', async () => {
    const program = `try { return await call('kit.write', {}) } catch (error) { return error.code }`
    expect((await run([{ id: 'p', type: 'code', program, tools: ['kit.get'] }])).output).toBe('not-carried')
    expect(made).toEqual([])
  })

  it('pause for an approval and repeat no call after it', async () => {
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

  it('fail their node with the line number when they throw', async () => {
    const done = await run([{ id: 'p', type: 'code', program: 'const a = 1\nthrow new Error("mine")' }])
    expect(done).toMatchObject({ status: 'failed', error: { node: 'p', reason: 'program-error' } })
    expect(done.error?.message).toContain('mine (line 2)')
  })
})

describe('a workflow approval request', () => {
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
  it('from a node lets other nodes continue and resumes the run when answered', async () => {
    const paused = await run(nodes)
    expect(paused.status).toBe('paused')
    expect(made).toHaveLength(2)
    expect(reportsOf('ok')).toEqual(['queued', 'running', 'paused'])
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

  it('contains no secret from a value, from a text or in the format of a key', async () => {
    const key = `sk-ant-api03-${'a1B2c3D4'.repeat(12)}`
    const paused = await run(
      [
        {
          id: 'ok',
          type: 'approval',
          message: 'Use {{ input.password }} and {{ input.deep.pin }} for {{ input.who }}?',
          arguments: { password: '{{ input.password }}', apiKey: key, note: `with {{ input.password }} and ${key}` },
        },
      ],
      {
        input: { password: 'hunter2', who: 'Bob', deep: { pin: 4711 } },
        schema: {
          type: 'object',
          properties: { password: {}, who: {}, deep: { type: 'object', properties: { pin: { writeOnly: true } } } },
        },
      },
    )
    const [open] = await host.approvals.list('ann', { status: 'pending' })
    expect(open).toMatchObject({ reason: 'Use ••• and ••• for Bob?', arguments: { password: '•••', apiKey: '•••' } })
    for (const secret of ['hunter2', '4711', key]) expect(JSON.stringify([open, paused.steps])).not.toContain(secret)
    expect((await answer(paused, 'allow')).status).toBe('completed')
  })

  it('fails its node or uses the onError value when denied', async () => {
    expect(await answer(await run(nodes), 'deny')).toMatchObject({
      status: 'failed',
      error: { node: 'ok', reason: 'denied' },
    })
    const softer = nodes.map((node) => (node.id === 'ok' ? { ...node, onError: { value: { approved: false } } } : node))
    const output = '{{ nodes.ok.output.approved }}'
    const paused = await run(softer, { output })
    expect((await answer(paused, 'deny')).output).toBe(false)
  })

  it('from the policy is separate for each item of a map', async () => {
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

  it('is withdrawn when its run fails', async () => {
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
  it('call through the pipeline and repeat no model answer or call after a pause', async () => {
    const asked: string[] = []
    world.agent = async ({ remember, call, prompt, loadout }) => {
      const answer = await remember('model-0', async () => {
        asked.push(prompt)
        return { calls: ['1', '2'] }
      })
      const results = await Promise.all(
        (answer.calls as string[]).map((id) =>
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

  it('are stopped before they make a different call on replay', async () => {
    let times = 0
    world.agent = async ({ call }) => {
      times++
      await call({ id: `a${times}`, name: 'kit.write', arguments: { n: times } })
      await call({ id: `b${times}`, name: 'kit.ask_me', arguments: {} })
      return { output: null }
    }
    const paused = await run([{ id: 'g', type: 'agent', prompt: 'x', tools: ['kit'] }])
    const done = await answer(paused, 'allow')
    expect(done).toMatchObject({ status: 'failed', error: { code: 'run-drift' } })
    expect(made).toEqual(['write{"n":1}'])
  })

  it('can reuse call ids in each model answer', async () => {
    world.agent = async ({ remember, call }) => {
      for (const turn of [0, 1, 2]) {
        await remember(`model-${turn}`, async () => turn)
        const write = (n: number) => call({ id: 'call_0', name: 'kit.write', arguments: { n } })
        await Promise.all(turn === 2 ? [write(7), write(8)] : [write(turn === 0 ? 1 : 2)])
      }
      await call({ id: 'call_0', name: 'kit.ask_me', arguments: {} })
      return { output: 'done' }
    }
    const paused = await run([{ id: 'g', type: 'agent', prompt: 'x', tools: ['kit'] }])
    expect(await answer(paused, 'allow')).toMatchObject({ status: 'completed', output: 'done', usage: { calls: 5 } })
    // The two calls of the last answer run at the same time, in any order.
    const [first, second, ...parallel] = made
    const last = parallel.pop()
    expect([first, second, last]).toEqual(['write{"n":1}', 'write{"n":2}', 'ask_me{}'])
    expect(parallel.sort()).toEqual(['write{"n":7}', 'write{"n":8}'])
  })

  it('pass the suggested fix of their error on to the run', async () => {
    world.agent = async () => {
      throw new HostError('model-unavailable', { detail: 'No key.', action: 'Save a key.' })
    }
    expect(await run([{ id: 'g', type: 'agent', prompt: 'x', tools: ['kit'] }])).toMatchObject({
      status: 'failed',
      error: { code: 'workflow-failed', reason: 'model-unavailable', action: 'Save a key.' },
    })
  })

  it('can call only the tools of their node and must return valid output', async () => {
    world.agent = async ({ call }) => ({
      output: { status: (await call({ id: '1', name: 'kit.write', arguments: {} })).status },
    })
    const schema = { type: 'object', required: ['answer'] }
    const done = await run([{ id: 'g', type: 'agent', prompt: 'x', tools: ['kit.get'], output: schema }])
    expect(done).toMatchObject({ status: 'failed', error: { reason: 'invalid-output' } })
    expect(made).toEqual([])
  })
})

describe('a run', () => {
  it('stops its work in flight when it is cancelled', async () => {
    gates.set('slow', new Promise(() => {}))
    const started = await host.workflows.start('ann', {
      definition: { name: 'w', nodes: [kit('s', 'slow'), kit('n', 'get', { after: ['s'] })] },
    })
    await expect.poll(() => made.length).toBe(1)
    await host.runs.cancel('ann', started.id)
    expect((await host.runs.settled('ann', started.id)).status).toBe('cancelled')
    expect(made).toHaveLength(1)
  })

  it('can be rerun from a node with the results completed before it', async () => {
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

describe('node events', () => {
  it('are emitted once, however often the run resumes', async () => {
    const paused = await run([
      kit('a', 'write'),
      kit('b', 'ask_me', { after: ['a'] }),
      kit('c', 'get', { after: ['b'] }),
    ])
    await answer(paused, 'allow')
    await expect.poll(() => reportsOf('c').at(-1)).toBe('completed')
    expect(reportsOf('a')).toEqual(['queued', 'running', 'completed'])
    expect(reportsOf('b')).toEqual(['queued', 'running', 'paused', 'running', 'completed'])
  })
})
