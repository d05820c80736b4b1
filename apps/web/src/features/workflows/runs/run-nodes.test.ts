import { expect, it } from 'vitest'
import type { Definition } from '../definition/definition.ts'
import type { Run, Step } from '../queries.ts'
import { formatStep, inTime, nodeOf, runNodes } from './run-nodes.ts'

const definition: Definition = {
  name: 'w',
  nodes: [
    { id: 'decide', type: 'branch', when: 'true', onTrue: ['a'], onFalse: ['b'] },
    { id: 'a', type: 'code', program: '' },
    { id: 'b', type: 'code', program: '' },
    { id: 'each', type: 'map', over: '[1]', node: 'body' },
    { id: 'body', type: 'tool', ref: 'kit.say' },
    { id: 'last', type: 'approval', message: 'ok?', after: ['each'] },
  ],
}
let seq = 0
const step = (place: string, status: Step['status'], more: Partial<Step> = {}): Step => ({
  id: `step_${seq}`,
  seq: seq++,
  kind: 'call',
  request: { node: /^\w+/.exec(place)?.[0] },
  place,
  status,
  startedAt: `2026-01-01T00:00:0${seq % 10}.000Z`,
  ...(status === 'completed' ? { endedAt: '2026-01-01T00:00:09.000Z' } : {}),
  ...more,
})
const run = (status: Run['status'], steps: Step[], more: Partial<Run> = {}): Run => ({
  id: 'run_1',
  kind: 'workflow',
  status,
  logs: [],
  steps,
  pending: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:10.000Z',
  ...more,
})
const states = (target: Run) => Object.fromEntries(runNodes(target, definition).map(({ id, state }) => [id, state]))
const went = step('decide', 'completed', { kind: 'branch', output: true })
const item = (place: string, status: Step['status']) => step(place, status, { request: { node: 'body', item: 0 } })

it('runNodes returns a state for each node of a running run', () => {
  expect(states(run('running', [went, step('a/names', 'completed', { kind: 'names', request: null })]))).toEqual({
    decide: 'completed',
    a: 'running',
    b: 'skipped',
    each: 'waiting',
    body: 'waiting',
    last: 'waiting',
  })
  const mapped = [went, step('a', 'completed'), item('each[0]', 'completed')]
  expect(states(run('running', mapped))).toMatchObject({ each: 'running', body: 'running' })
  expect(states(run('paused', [...mapped, step('last', 'paused')]))).toMatchObject({
    each: 'completed',
    last: 'paused',
  })
  expect(states(run('outcome-unknown', [item('each[0]', 'outcome-unknown')]))).toMatchObject({
    each: 'outcome-unknown',
  })
})

it('runNodes counts the items of a map and completes it with the last item', () => {
  const items = [item('each[0]', 'completed'), item('each[1]', 'completed')]
  const going = run('running', items, { progress: { each: { done: 2, total: 3 } } })
  expect(runNodes(going, definition).find(({ id }) => id === 'each')?.progress).toEqual({ done: 2, total: 3 })
  expect(states(going)).toMatchObject({ each: 'running', body: 'running' })
  const counted = run('running', [...items, step('last', 'started')], { progress: { each: { done: 2, total: 2 } } })
  expect(states(counted)).toMatchObject({ each: 'completed', body: 'completed', last: 'running' })
  expect(states(run('running', [], { progress: { each: { done: 0, total: 0 } } }))).toMatchObject({ each: 'completed' })
})

it('runNodes returns a state for each node of an ended run', () => {
  const failed = [went, step('a', 'failed', { error: { code: 'x', message: 'no' } })]
  expect(states(run('failed', failed, { error: { code: 'workflow-failed', message: '', node: 'a' } }))).toMatchObject({
    a: 'failed',
    each: 'waiting',
  })
  expect(states(run('completed', [went, step('a', 'completed')]))).toMatchObject({
    a: 'completed',
    b: 'skipped',
    last: 'skipped',
  })
  expect(states(run('completed', [step('a', 'failed'), step('a@2', 'completed')]))).toMatchObject({ a: 'completed' })
})

it('nodes are sorted by start time and steps are named by item and attempt', () => {
  const started = run('running', [
    step('each[0]', 'completed', { startedAt: '2026-01-01T00:00:01.000Z' }),
    { ...went, startedAt: '2026-01-01T00:00:05.000Z' },
  ])
  expect(
    inTime(runNodes(started, definition))
      .map(({ id }) => id)
      .slice(0, 2),
  ).toEqual(['each', 'decide'])
  const second = step('each[3]@2', 'completed', { request: { node: 'body', item: 3, attempt: 2, ref: 'kit.say' } })
  expect([nodeOf(second), formatStep(second)]).toEqual(['body', 'Item 4, attempt 2, kit.say'])
})
