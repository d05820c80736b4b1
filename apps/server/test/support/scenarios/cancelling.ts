/** A client that leaves cancels its call: the server is notified by its transport and the connection stays open. */
import { expect } from 'vitest'
import type { RpcMessage } from '../../../../../test/scenario-http.ts'
import { pause, type ScenarioContext, type Scenarios } from './scenario-context.ts'

/** Begins to wait, and goes away; the server must have stopped waiting. */
async function goAway(world: ScenarioContext, notes: () => string[]): Promise<void> {
  const gone = new AbortController()
  const calling = world.call('wait', {}, { signal: gone.signal }).catch((error) => error.name)
  await world.until(() => notes().includes('wait'))
  gone.abort()
  expect(await calling).toBe('AbortError')
  await world.until(() => notes().includes('cancelled'))
  expect((await world.call('echo', { text: 'next' })).status).toBe(200)
}

const idOf = (messages: RpcMessage[]) => messages.find(({ params }) => params?.name === 'wait')?.id

async function overHttp(world: ScenarioContext, kind: 'legacy' | 'sse'): Promise<void> {
  const server = await world.http(kind)
  await goAway(world, () => server.notes)
  const cancelled = server.of('notifications/cancelled').map(({ message }) => message?.params?.requestId)
  expect(cancelled).toEqual([idOf(server.of('tools/call').map(({ message }) => message as RpcMessage))])
  // An old server was asked in the newer way first, at another address.
  const sessions = server.of('initialize').filter(({ path }) => kind === 'legacy' || path !== '/mcp')
  expect(sessions).toHaveLength(1)
}

async function overStdio(world: ScenarioContext, era: 'legacy' | 'modern'): Promise<void> {
  const server = await world.stdio(era)
  await goAway(world, server.notes)
  const cancelled = server.of('notifications/cancelled').map(({ params }) => params?.requestId)
  expect(cancelled).toEqual([idOf(server.of('tools/call'))])
  expect(server.notes().filter((note) => note.startsWith('started'))).toHaveLength(1)
}

export const CANCELLING: Scenarios = {
  'sends notifications/cancelled with the call ID over legacy HTTP': (world) => overHttp(world, 'legacy'),
  'sends notifications/cancelled with the call ID over HTTP+SSE': (world) => overHttp(world, 'sse'),
  'sends notifications/cancelled with the call ID over legacy stdio': (world) => overStdio(world, 'legacy'),
  'sends notifications/cancelled with the call ID over 2026-07-28 stdio': (world) => overStdio(world, 'modern'),

  async 'aborts the HTTP request and sends nothing else over 2026-07-28 HTTP'(world) {
    const server = await world.http('modern')
    await goAway(world, () => server.notes)
    const waited = server.of('tools/call').find(({ message }) => message?.params?.name === 'wait')
    expect(waited?.aborted).toBe(true)
    expect(server.of('notifications/cancelled')).toHaveLength(0)
  },

  async 'cancels the call when the client leaves its progress stream'(world) {
    const server = await world.http('modern')
    const events = world.follow('wait')
    await world.until(() => server.notes.includes('wait'))
    events.stop()
    await world.until(() => server.notes.includes('cancelled'))
  },

  async 'continues a background call without its caller'(world) {
    const server = await world.stdio('legacy')
    const { status, body } = await world.call('count', { to: 3, everyMs: 100 }, { wait: false })
    expect([status, body.status]).toEqual([202, 'running'])
    expect(await world.outcome(body.callId)).toMatchObject({
      status: 200,
      body: { content: [{ text: 'counted to 3' }] },
    })
    expect(server.of('notifications/cancelled')).toEqual([])
  },

  async 'cancels one of several concurrent calls and no other'(world) {
    const server = await world.http('legacy')
    const gone = new AbortController()
    const waiting = world.call('wait', {}, { signal: gone.signal }).catch((error) => error.name)
    const counting = world.call('count', { to: 5, everyMs: 100 })
    await world.until(() => server.notes.length === 2)
    gone.abort()
    expect(await waiting).toBe('AbortError')
    expect((await counting).status).toBe(200)
    await pause(50)
    expect(server.of('notifications/cancelled')).toHaveLength(1)
  },
}
