/** Servers that ask for time, or are down. */
import { expect } from 'vitest'
import { provenWithin } from '../../../../../test/prove/work.ts'
import type { Fault } from '../../../../../test/scenario-http.ts'
import { pause, type Scenarios } from './world.ts'

interface Refusal {
  status: number
  headers?: () => Record<string, string>
  times?: number
}

const refuses =
  ({ status, headers, times = 1 }: Refusal): Fault =>
  ({ message }, response, nth) => {
    if (message?.method !== 'tools/call' || nth > times) return false
    response.writeHead(status, headers?.()).end()
    return true
  }

/** As a server that keeps count: it refuses whoever comes before the time that it has told. */
const refusesUntil = (headerOf: (until: number) => string): Fault => {
  let until: number | undefined
  return ({ message }, response) => {
    if (message?.method !== 'tools/call') return false
    // A header has whole seconds.
    until ??= Math.ceil(Date.now() / 1000) * 1000 + 1000
    if (Date.now() >= until) return false
    response.writeHead(429, { 'retry-after': headerOf(until) }).end()
    return true
  }
}

export const LIMITS: Scenarios = {
  async '429 with seconds: the time is waited, and the call made once'(world) {
    const seconds = (until: number) => `${Math.ceil((until - Date.now()) / 1000)}`
    const server = await world.http('modern', { fault: refusesUntil(seconds) })
    expect((await provenWithin(4000, () => world.call('write', { text: 'x' }))).status).toBe(200)
    expect(server.notes).toEqual(['write x'])
    expect(server.of('tools/call')).toHaveLength(2)
  },

  async '429 with a date: the same'(world) {
    const server = await world.http('legacy', { fault: refusesUntil((until) => new Date(until).toUTCString()) })
    expect((await provenWithin(4000, () => world.call('write', { text: 'x' }))).status).toBe(200)
    expect(server.notes).toEqual(['write x'])
    expect(server.of('tools/call')).toHaveLength(2)
  },

  async '429 without a time is told at once, and nothing is sent again'(world) {
    const server = await world.http('modern', { fault: refuses({ status: 429 }) })
    expect(await world.call('echo', { text: 'x' })).toMatchObject({ status: 429, body: { code: 'rate-limited' } })
    expect(server.of('tools/call')).toHaveLength(1)
    expect((await world.call('echo', { text: 'x' })).status).toBe(200)
  },

  async '429 with an hour is not waited for: who asks is told how long, and nothing is sent before'(world) {
    const headers = () => ({ 'retry-after': '3600' })
    const server = await world.http('legacy', { fault: refuses({ status: 429, headers, times: 9 }) })
    const answer = await world.call('echo', { text: 'x' })
    expect(answer).toMatchObject({
      status: 429,
      body: { code: 'rate-limited', detail: expect.stringContaining('3600 s') },
    })
    expect(answer.headers.get('retry-after')).toBe('3600')
    expect(server.of('tools/call')).toHaveLength(1)
  },

  async '429 again after the wait is told: one more time and no more'(world) {
    const headers = () => ({ 'retry-after': '1' })
    const server = await world.http('modern', { fault: refuses({ status: 429, headers, times: 9 }) })
    expect(await world.call('echo', { text: 'x' })).toMatchObject({ status: 429 })
    expect(server.of('tools/call')).toHaveLength(2)
  },

  async 'who gives up during the wait has cancelled: nothing is sent any more'(world) {
    const headers = () => ({ 'retry-after': '2' })
    const server = await world.http('legacy', { fault: refuses({ status: 429, headers }) })
    const gone = new AbortController()
    const calling = world.call('write', { text: 'x' }, { signal: gone.signal }).catch((error) => error.name)
    await world.until(() => server.of('tools/call').length === 1)
    gone.abort()
    expect(await calling).toBe('AbortError')
    await pause(2300)
    expect(server.of('tools/call')).toHaveLength(1)
    expect(server.notes).toEqual([])
  },

  async '503 is told and not repeated; the next call finds the server as it is'(world) {
    const server = await world.http('modern', { fault: refuses({ status: 503 }) })
    expect(await world.call('echo', { text: 'x' })).toMatchObject({ status: 502, body: { code: 'server-unreachable' } })
    expect(server.of('tools/call')).toHaveLength(1)
    expect((await world.call('echo', { text: 'y' })).status).toBe(200)
    expect(server.notes).toEqual(['echo y'])
  },
}
