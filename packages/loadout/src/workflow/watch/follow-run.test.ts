/** Following runs, and what can be known of them from what is stored alone: the same as is told where they are worked on. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kit, openWorkflowHost, type WorkflowHost } from '../../../test/fixtures/workflow-host.ts'
import { createEmitter } from '../../events.ts'
import { followRun } from './follow-run.ts'
import type { NodeState } from './node-states.ts'

let world: WorkflowHost
beforeEach(async () => {
  world = await openWorkflowHost()
})
afterEach(() => world.host.close())

const elsewhere = () => ({
  storage: world.host.storage,
  events: createEmitter(),
  presence: { processId: 'another' },
})
/** As a process does that hears nothing of it: only what is stored. */
const fromAfar = (runId: string, signal?: AbortSignal) => followRun(elsewhere(), { userId: 'ann', runId }, { signal })
async function all(stream: AsyncIterable<NodeState>): Promise<string[]> {
  const seen: string[] = []
  for await (const state of stream) seen.push(wordsOf(state))
  return seen
}
const wordsOf = ({ node, status, error, done, total }: NodeState) =>
  [
    node,
    status,
    ...(error ? [error.code, error.action] : []),
    ...(total === undefined ? [] : [`${done}/${total}`]),
  ].join(' ')
/** The last that was told of each node. */
const lastStates = () => {
  const last = new Map<string, string>()
  for (const event of world.events) if (event.type === 'run-node') last.set(event.node, wordsOf(event))
  return [...last.values()].sort()
}

const CASES: Record<string, object[]> = {
  'tools in a row': [kit('a', 'get'), kit('b', 'write', { after: ['a'] })],
  branches: [
    { id: 'if', type: 'branch', when: 'input.n > 1', onTrue: ['yes'], onFalse: ['no'] },
    kit('yes', 'get'),
    kit('no', 'write'),
    kit('after', 'get', { after: ['no'] }),
  ],
  maps: [
    kit('list', 'list', { arguments: { count: 3 } }),
    { id: 'each', type: 'map', over: 'nodes.list.output.items', node: 'one', as: 'item' },
    kit('one', 'write', { arguments: { n: '{{ item.n }}' } }),
  ],
  'a map that fails': [
    { id: 'each', type: 'map', over: '[1, 2, 3]', node: 'one' },
    kit('one', 'get', { arguments: { n: '{{ item }}' } }),
  ],
  'a map that waits': [
    { id: 'each', type: 'map', over: '[1, 2]', node: 'one' },
    kit('one', 'get'),
    { id: 'all', type: 'map', over: '[1, 2]', node: 'ask', after: ['each'] },
    kit('ask', 'ask_me'),
  ],
  'a map in a map': [
    { id: 'each', type: 'map', over: '[1, 2]', node: 'inner' },
    { id: 'inner', type: 'map', over: '[item, 3]', node: 'one', as: 'x' },
    kit('one', 'get', { arguments: { n: '{{ x }}' } }),
  ],
  'a failure that ends it': [kit('a', 'broken'), kit('b', 'write', { after: ['a'] })],
  'a failure that it goes on from': [
    kit('a', 'get', { onError: 'continue', retry: { attempts: 2, backoffMs: 1 } }),
    kit('b', 'get', { after: ['a'] }),
  ],
  'a node in place of another': [kit('a', 'get', { onError: { node: 'x' } }), kit('x', 'write')],
  programs: [{ id: 'p', type: 'code', program: 'return (await kit.get({})).got', tools: ['kit.get'] }],
  'one that waits': [kit('a', 'ask_me'), kit('b', 'get'), kit('c', 'get', { after: ['a'] })],
  questions: [{ id: 'q', type: 'approval', message: 'Go on?' }, kit('b', 'get', { after: ['q'] })],
}

describe('followRun from storage alone', () => {
  it.each(Object.entries(CASES))(
    'reports each node in the state that its host reported last: %s',
    async (name, nodes) => {
      if (name.startsWith('a failure') || name.startsWith('a node') || name.includes('fails'))
        world.failing.set('get', name.includes('goes on') ? 2 : 1)
      const run = await world.run(nodes, { input: { n: 2 } })
      expect((await all(fromAfar(run.id))).sort()).toEqual(lastStates())
    },
  )

  it('reports finished and running nodes at once and later states as they are stored', async () => {
    const gate = Promise.withResolvers<void>()
    world.gates.set('write', gate.promise)
    const definition = { name: 'w', nodes: CASES['tools in a row'] }
    const { id } = await world.host.workflows.start('ann', { definition })
    await expect.poll(() => world.made.length).toBe(2)
    const seen: string[] = []
    for await (const { node, status } of fromAfar(id)) {
      seen.push(`${node} ${status}`)
      if (node === 'b' && status === 'running') gate.resolve()
    }
    expect(seen).toEqual(['a completed', 'b running', 'b completed'])
  })

  it('ends when its signal aborts and rejects another user', async () => {
    const { id } = await world.run([kit('a', 'ask_me')])
    const other = followRun(elsewhere(), { userId: 'bob', runId: id }, {})
    await expect(all(other)).rejects.toMatchObject({ code: 'not-found' })
    expect(await all(fromAfar(id, AbortSignal.abort()))).toEqual([])
  })
})

describe('a followed map', () => {
  const nodes = [
    { id: 'each', type: 'map', over: 'input.list', node: 'one' },
    kit('one', 'write', { arguments: { n: '{{ item }}' }, onError: { node: 'other' } }),
    kit('other', 'get'),
  ]
  const eventsOf = (node: string) =>
    world.events.flatMap((one) => (one.type === 'run-node' && one.node === node ? [wordsOf(one)] : []))

  it('reports its own progress and no events for its inner nodes', async () => {
    world.failing.set('write', 1)
    const run = await world.run(nodes, { input: { list: [1, 2, 3] } })
    const seen = ['each queued', ...[0, 1, 2, 3].map((n) => `each running ${n}/3`), 'each completed 3/3']
    expect([run.status, eventsOf('each')]).toEqual(['completed', seen])
    expect([eventsOf('one'), eventsOf('other')]).toEqual([[], []])
    expect(run.progress).toEqual({ each: { done: 3, total: 3 } })
    expect(await all(world.host.workflows.follow('ann', run.id))).toEqual(['each completed 3/3'])
  })

  it('resumes its progress after a pause', async () => {
    const asks = [{ id: 'each', type: 'map', over: '[1, 2]', node: 'one' }, kit('one', 'ask_me')]
    const paused = await world.run(asks)
    expect(eventsOf('each')).toEqual(['each queued', 'each running 0/2', 'each paused 0/2'])
    world.events.length = 0
    const [first] = paused.steps
    await world.host.approvals.answer('ann', first?.approvalId ?? '', { decision: 'allow' })
    await expect.poll(() => eventsOf('each').at(-1)).toBe('each paused 1/2')
    expect(eventsOf('each')).toEqual(['each running 0/2', 'each running 1/2', 'each paused 1/2'])
    await world.answer(await world.host.runs.settled('ann', paused.id), 'allow')
    expect(eventsOf('each').slice(3)).toEqual(['each running 1/2', 'each running 2/2', 'each completed 2/2'])
  })

  it('reports many items in fewer events', async () => {
    const run = await world.run(nodes, { input: { list: Array.from({ length: 450 }, (_, n) => n) } })
    expect(run.progress).toEqual({ each: { done: 450, total: 450 } })
    expect(eventsOf('each').length).toBe(153)
    expect(eventsOf('each')).toContain('each running 300/450')
  })

  it('reports the same progress locally and from storage while it runs', async () => {
    const gate = Promise.withResolvers<void>()
    const definition = { name: 'w', nodes: [nodes[0], kit('one', 'get', { arguments: { n: '{{ item }}' } })] }
    world.host.events.on('run-node', ({ done }) => {
      if (done === 2) world.gates.set('get', gate.promise)
    })
    const { id } = await world.host.workflows.start('ann', { definition, input: { list: [1, 2, 3] } })
    await expect.poll(() => eventsOf('each').at(-1)).toBe('each running 2/3')
    expect((await world.host.runs.get('ann', id)).progress).toEqual({ each: { done: 2, total: 3 } })
    const streams = [world.host.workflows.follow('ann', id), fromAfar(id)].map(async (states) => {
      const seen: string[] = []
      for await (const state of states) {
        seen.push(wordsOf(state))
        if (seen.length === 1) setTimeout(gate.resolve, 200)
      }
      return seen
    })
    const [here, afar] = await Promise.all(streams)
    expect(here?.filter((one) => !one.includes('3/3'))).toEqual(['each running 2/3'])
    expect(afar?.[0]).toBe('each running 2/3')
    expect([here?.at(-1), afar?.at(-1)]).toEqual(['each completed 3/3', 'each completed 3/3'])
  })
})

it('a cancelled run leaves no node running, locally and from storage', async () => {
  world.gates.set('write', new Promise(() => {}))
  const nodes = [kit('a', 'get'), kit('b', 'write', { after: ['a'] }), kit('c', 'get', { after: ['b'] })]
  const { id } = await world.host.workflows.start('ann', { definition: { name: 'w', nodes } })
  await expect.poll(() => world.made.length).toBe(2)
  const here = all(world.host.workflows.follow('ann', id))
  await new Promise((resolve) => setTimeout(resolve, 50))
  await world.host.runs.cancel('ann', id)
  const over = 'b failed cancelled Nothing: it was cancelled on request.'
  expect((await here).at(-1)).toBe(over)
  expect(await all(fromAfar(id))).toEqual(['a completed', over])
})

describe('follow in the process of the run', () => {
  it('reports every state once and in order, from the start or from when following begins', async () => {
    const paused = await world.run([kit('a', 'ask_me'), kit('b', 'get'), kit('c', 'get', { after: ['a'] })])
    const { follow } = world.host.workflows
    expect((await all(follow('ann', paused.id))).sort()).toEqual(['a paused', 'b completed'])
    const gate = Promise.withResolvers<void>()
    world.gates.set('ask_me', gate.promise)
    const resumed = world.answer(paused, 'allow')
    await expect.poll(() => world.made.length).toBe(2)
    const seen: string[] = []
    for await (const { node, status } of follow('ann', paused.id)) {
      seen.push(`${node} ${status}`)
      gate.resolve()
    }
    await resumed
    expect(seen.sort()).toEqual(['a completed', 'a running', 'b completed', 'c completed', 'c queued', 'c running'])
  })
})
