/** Following runs, and what can be known of them from what is stored alone: the same as is told where they are worked on. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEmitter } from '../events.ts'
import { kit, openWorkflowWorld, type WorkflowWorld } from '../testing/workflow-world.ts'
import { followRun } from './follow-run.ts'
import type { NodeState } from './node-states.ts'

let world: WorkflowWorld
beforeEach(async () => {
  world = await openWorkflowWorld()
})
afterEach(() => world.host.close())

const elsewhere = () => ({
  ...{ storage: world.host.storage, events: createEmitter(), presence: { processId: 'another' } },
})
/** As a process does that hears nothing of it: only what is stored. */
const fromAfar = (runId: string, signal?: AbortSignal) => followRun(elsewhere(), { userId: 'ann', runId }, { signal })
async function all(states: AsyncIterable<NodeState>): Promise<string[]> {
  const told: string[] = []
  for await (const { node, status, error } of states) told.push(`${node} ${status}${error ? ` ${error.code}` : ''}`)
  return told
}
/** The last that was told of each node. */
const lastTold = () => {
  const last = new Map<string, string>()
  for (const event of world.events)
    if (event.type === 'run-node')
      last.set(event.node, `${event.node} ${event.status}${event.error ? ` ${event.error.code}` : ''}`)
  // What a node runs is part of it: its end is not told.
  return [...last.values()].filter((one) => !one.endsWith('running')).sort()
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

describe('from what is stored alone', () => {
  it.each(Object.entries(CASES))('%s: each node as it was told where it was done', async (name, nodes) => {
    if (name.startsWith('a failure') || name.startsWith('a node'))
      world.failing.set('get', name.includes('goes on') ? 2 : 1)
    const run = await world.run(nodes, { input: { n: 2 } })
    expect((await all(fromAfar(run.id))).sort()).toEqual(lastTold())
  })

  it('while it goes on: what is done runs, what is over is over, and the rest comes as it is written', async () => {
    const gate = Promise.withResolvers<void>()
    world.gates.set('write', gate.promise)
    const definition = { name: 'w', nodes: CASES['tools in a row'] }
    const { id } = await world.host.workflows.start('ann', { definition })
    await expect.poll(() => world.made.length, { timeout: 5000 }).toBe(2)
    const told: string[] = []
    for await (const { node, status } of fromAfar(id)) {
      told.push(`${node} ${status}`)
      if (node === 'b' && status === 'running') gate.resolve()
    }
    expect(told).toEqual(['a completed', 'b running', 'b completed'])
  })

  it("ends where the signal says, and is nobody else's", async () => {
    const { id } = await world.run([kit('a', 'ask_me')])
    const other = followRun(elsewhere(), { userId: 'bob', runId: id }, {})
    await expect(all(other)).rejects.toMatchObject({ code: 'not-found' })
    expect(await all(fromAfar(id, AbortSignal.abort()))).toEqual([])
  })
})

describe('where it is done', () => {
  it('is told every state once and in its order, from its beginning or from when it is followed', async () => {
    const paused = await world.run([kit('a', 'ask_me'), kit('b', 'get'), kit('c', 'get', { after: ['a'] })])
    const { follow } = world.host.workflows
    expect((await all(follow('ann', paused.id))).sort()).toEqual(['a paused', 'b completed'])
    const gate = Promise.withResolvers<void>()
    world.gates.set('ask_me', gate.promise)
    const answered = world.answer(paused, 'allow')
    await expect.poll(() => world.made.length, { timeout: 5000 }).toBe(2)
    const told: string[] = []
    for await (const { node, status } of follow('ann', paused.id)) {
      told.push(`${node} ${status}`)
      gate.resolve()
    }
    await answered
    expect(told.sort()).toEqual(['a completed', 'a running', 'b completed', 'c completed', 'c queued', 'c running'])
  })
})
