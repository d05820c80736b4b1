/** Progress: ordered on every transport, extends a call, and is throttled. */
import { expect } from 'vitest'
import type { RpcMessage } from '../../../../../test/scenario-http.ts'
import type { Scenario, ScenarioContext, Scenarios } from './scenario-context.ts'

/** The API streams every step in order, and then the result; the server was asked for progress. */
async function counts(world: ScenarioContext, calls: () => RpcMessage[]): Promise<void> {
  const events = world.follow('count', { to: 4, everyMs: 130 })
  await events.done
  expect(events.names()).toEqual(['started', 'progress', 'progress', 'progress', 'progress', 'result'])
  const steps = [1, 2, 3, 4].map((progress) => ({ progress, total: 4, message: `step ${progress}` }))
  expect(events.all('progress')).toMatchObject(steps)
  expect(events.all('result')).toMatchObject([{ status: 'ok', content: [{ text: 'counted to 4' }] }])
  expect(calls()).toHaveLength(1)
  expect(calls()[0]?.params?._meta?.progressToken).toBeDefined()
}

async function overHttp(world: ScenarioContext, kind: 'legacy' | 'modern' | 'sse'): Promise<void> {
  const server = await world.http(kind)
  await counts(world, () => server.of('tools/call').map(({ message }) => message as RpcMessage))
}

async function overStdio(world: ScenarioContext, era: 'legacy' | 'modern'): Promise<void> {
  const server = await world.stdio(era)
  await counts(world, () => server.of('tools/call'))
}

const EVERY_WAY = {
  'legacy HTTP': (world: ScenarioContext) => world.http('legacy'),
  '2026-07-28 HTTP': (world: ScenarioContext) => world.http('modern'),
  'HTTP+SSE': (world: ScenarioContext) => world.http('sse'),
  'legacy stdio': (world: ScenarioContext) => world.stdio('legacy'),
  '2026-07-28 stdio': (world: ScenarioContext) => world.stdio('modern'),
} as const

/** The answer comes right behind the last step, mostly in the same chunk: it must not overtake it. */
const lastWords = Object.entries(EVERY_WAY).map(([way, start]): [string, Scenario] => [
  `that came right before the answer is not lost over ${way}`,
  async (world) => {
    await start(world)
    for (let i = 0; i < 5; i++) {
      const events = world.follow('count', { to: 20, everyMs: 0 })
      await events.done
      expect(events.all('progress').at(-1)).toMatchObject({ progress: 20 })
      expect(events.names().at(-1)).toBe('result')
    }
  },
])

const SHORT = { timeouts: { callMs: 500, totalMs: 10_000 } }

export const PROGRESS: Scenarios = {
  'arrives in order over legacy HTTP': (world) => overHttp(world, 'legacy'),
  'arrives in order over 2026-07-28 HTTP': (world) => overHttp(world, 'modern'),
  'arrives in order over legacy stdio': (world) => overStdio(world, 'legacy'),
  'arrives in order over 2026-07-28 stdio': (world) => overStdio(world, 'modern'),
  'arrives in order over HTTP+SSE': (world) => overHttp(world, 'sse'),

  ...Object.fromEntries(lastWords),

  async 'extends a call beyond its timeout, also without a listener'(world) {
    const server = await world.http('modern', { record: SHORT })
    const answer = await world.call('count', { to: 10, everyMs: 150 })
    expect(answer).toMatchObject({ status: 200, body: { content: [{ text: 'counted to 10' }] } })
    expect(server.notes).toEqual(['count'])
  },

  async 'is required: without progress the call times out and the server is notified'(world) {
    const server = await world.http('legacy', { record: SHORT })
    expect(await world.call('wait')).toMatchObject({ status: 502, body: { code: 'server-timeout' } })
    await world.until(() => server.notes.includes('cancelled'))
    // Not repeated, though it only reads.
    expect(server.of('tools/call')).toHaveLength(1)
  },

  async 'is throttled when it floods, and the last update arrives'(world) {
    await world.stdio('modern')
    const events = world.follow('count', { to: 2000, everyMs: 0 })
    await events.done
    const updates = events.all('progress')
    expect(updates.length).toBeLessThan(200)
    expect(updates.at(-1)).toMatchObject({ progress: 2000 })
    const order = updates.map(({ progress }) => progress)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  },
}
