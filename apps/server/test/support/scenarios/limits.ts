/** Servers that ask for time or are down. */
import { expect } from 'vitest'
import { provenWithin } from '../../../../../test/prove/work.ts'
import type { Fault } from '../../../../../test/scenario-http.ts'
import { pause, type Scenarios } from './scenario-context.ts'

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
  async 'a 429 with seconds is waited for and the call runs once'(world) {
    const seconds = (until: number) => `${Math.ceil((until - Date.now()) / 1000)}`
    const server = await world.http('modern', { fault: refusesUntil(seconds) })
    expect((await provenWithin(4000, () => world.call('write', { text: 'x' }))).status).toBe(200)
    expect(server.notes).toEqual(['write x'])
    expect(server.of('tools/call')).toHaveLength(2)
  },

  async 'a 429 with a date is waited for and the call runs once'(world) {
    const server = await world.http('legacy', { fault: refusesUntil((until) => new Date(until).toUTCString()) })
    expect((await provenWithin(4000, () => world.call('write', { text: 'x' }))).status).toBe(200)
    expect(server.notes).toEqual(['write x'])
    expect(server.of('tools/call')).toHaveLength(2)
  },

  async 'a 429 without a time is reported at once and not retried'(world) {
    const server = await world.http('modern', { fault: refuses({ status: 429 }) })
    expect(await world.call('echo', { text: 'x' })).toMatchObject({ status: 429, body: { code: 'rate-limited' } })
    expect(server.of('tools/call')).toHaveLength(1)
    expect((await world.call('echo', { text: 'x' })).status).toBe(200)
  },

  async 'a 429 with an hour is reported with its wait and blocks further requests until then'(world) {
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

  async 'a second 429 after the wait is reported and not retried'(world) {
    const headers = () => ({ 'retry-after': '1' })
    const server = await world.http('modern', { fault: refuses({ status: 429, headers, times: 9 }) })
    expect(await world.call('echo', { text: 'x' })).toMatchObject({ status: 429 })
    expect(server.of('tools/call')).toHaveLength(2)
  },

  async 'a call that is cancelled during the wait is not sent'(world) {
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

  async 'a 503 is reported and not retried, and the next call reaches the server'(world) {
    const server = await world.http('modern', { fault: refuses({ status: 503 }) })
    expect(await world.call('echo', { text: 'x' })).toMatchObject({ status: 502, body: { code: 'server-unreachable' } })
    expect(server.of('tools/call')).toHaveLength(1)
    expect((await world.call('echo', { text: 'y' })).status).toBe(200)
    expect(server.notes).toEqual(['echo y'])
  },
}
