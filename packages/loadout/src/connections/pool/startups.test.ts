/** How a server starts, as people see it: its phases, its last line, how long it may take, and how it is cancelled (R4, N4). */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { quirkyHost } from '../../../test/fixtures/quirky-host.ts'
import { HostError } from '../../errors.ts'
import type { ToolkitState } from '../../schema/toolkit/toolkit.ts'
import { withStartLimits } from './pending-handshakes.ts'
import { Startups } from './startups.ts'

const isGone = (pid: number) => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

describe('startup phases', () => {
  it('are reported as installing, starting, probing and listing, then connected', async () => {
    await using world = quirkyHost()
    const states: ToolkitState[] = []
    world.host.events.on((event) => event.type === 'state-changed' && states.push(event.state))
    await world.add('slow', { prints: ['Downloading packages', 'Server ready'], printEveryMs: 400 })
    await world.introspect('slow')
    const phases = states.map(({ status, phase }) => phase ?? status)
    expect(phases.filter((phase, index) => phase !== phases[index - 1])).toEqual([
      'connecting',
      'starting',
      'installing',
      'starting',
      'probing',
      'listing',
      'connected',
    ])
    expect(states.find(({ phase }) => phase === 'installing')?.lastLine).toBe('Downloading packages')
  })

  it('show the last output line without toolkit secrets', async () => {
    await using world = quirkyHost()
    const secret = 'sk-proj-4f9a8b7c6d5e4f3a2b1c'
    const prints = [`Downloading with token ${secret}`]
    await world.add('slow', { prints, startMs: 60_000 }, { env: { API_KEY: secret } })
    const looking = world.introspect('slow').catch(() => {})
    await expect
      .poll(async () => (await world.host.views.one('ann', 'slow')).state)
      .toEqual({
        status: 'connecting',
        phase: 'installing',
        lastLine: 'Downloading with token •••',
      })
    await world.host.connections.cancel(await world.host.toolkits.find('ann', 'slow'), 'ann')
    await looking
  })

  it('notify listeners of a phase at once and throttle output lines', () => {
    vi.useFakeTimers()
    let notifications = 0
    const startups = new Startups(() => notifications++)
    startups.update('id', { phase: 'starting' }, [])
    expect(notifications).toBe(1)
    for (let line = 0; line < 1000; line++) startups.update('id', { phase: 'starting', lastLine: `${line}` }, [])
    expect(notifications).toBe(1)
    vi.advanceTimersByTime(1000)
    expect(notifications).toBe(2)
    expect(startups.get('id')).toEqual({ phase: 'starting', lastLine: '999' })
  })
})

afterEach(() => void vi.useRealTimers())

describe('the startup timeout', () => {
  const outcome = (promise: Promise<unknown>) => {
    const seen: { error?: unknown } = {}
    promise.catch((error: unknown) => Object.assign(seen, { error }))
    return seen
  }
  const never = () => new Promise<void>(() => {})

  it('applies if nothing is printed and names the setting', async () => {
    vi.useFakeTimers()
    const seen = outcome(
      withStartLimits(never(), { connectMs: 60_000, maxMs: 300_000, setting: 'timeouts.introspectMs' }),
    )
    await vi.advanceTimersByTimeAsync(59_000)
    expect(seen.error).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1000)
    expect(seen.error).toMatchObject({
      code: 'server-timeout',
      message: 'The server did not answer within 60 s.',
      action: expect.stringContaining('`timeouts.introspectMs`'),
    })
  })

  it('is extended while the command prints, up to the overall limit', async () => {
    vi.useFakeTimers()
    const seen = outcome(
      withStartLimits(never(), { connectMs: 60_000, maxMs: 300_000, lastOutputAt: () => performance.now() }),
    )
    await vi.advanceTimersByTimeAsync(299_000)
    expect(seen.error).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1000)
    expect(seen.error).toMatchObject({ code: 'server-timeout', message: 'The server did not answer within 300 s.' })
  })

  it('expires 30 s after the last output line once the limit has passed', async () => {
    vi.useFakeTimers()
    let last = 0
    const seen = outcome(withStartLimits(never(), { connectMs: 60_000, maxMs: 300_000, lastOutputAt: () => last }))
    await vi.advanceTimersByTimeAsync(50_000)
    last = performance.now()
    await vi.advanceTimersByTimeAsync(29_000)
    expect(seen.error).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1000)
    expect(seen.error).toMatchObject({ code: 'server-timeout' })
  })

  it('is five minutes by default for a command that keeps printing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const world = quirkyHost()
    // The command prints in real time, while the clock of the limits moves only between two lines.
    const prints = Array.from({ length: 1000 }, (_, index) => `${index}`)
    await world.add('slow', { prints, printEveryMs: 50, answers: false })
    const stored = await world.host.toolkits.find('ann', 'slow')
    const lastLine = () => world.host.connections.stateOf(stored, 'ann')?.lastLine
    const seen = outcome(world.introspect('slow'))
    const nextLine = async () => {
      const before = lastLine()
      while (lastLine() === before && !seen.error) await new Promise((resolve) => setImmediate(resolve))
    }
    await nextLine()
    for (let passedMs = 0; passedMs < 280_000; passedMs += 20_000) {
      await vi.advanceTimersByTimeAsync(20_000)
      await nextLine()
    }
    expect(seen.error).toBeUndefined()
    await vi.advanceTimersByTimeAsync(21_000)
    vi.useRealTimers()
    await expect
      .poll(() => seen.error)
      .toMatchObject({ code: 'server-timeout', message: 'The server did not answer within 300 s.' })
    await world[Symbol.asyncDispose]()
  })

  it('is one minute by default for a command that prints nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const world = quirkyHost()
    await world.add('mute', { answers: false })
    const seen = outcome(world.introspect('mute'))
    await vi.waitFor(() => expect(world.host.connections.counts().processes).toBe(1), { timeout: 60_000 })
    await vi.advanceTimersByTimeAsync(55_000)
    expect(seen.error).toBeUndefined()
    await vi.advanceTimersByTimeAsync(10_000)
    vi.useRealTimers()
    await expect
      .poll(() => seen.error)
      .toMatchObject({
        code: 'server-timeout',
        action: expect.stringContaining('timeouts.introspectMs'),
      })
    await world[Symbol.asyncDispose]()
  })

  it('uses the exact limit of a record', async () => {
    await using world = quirkyHost({}, { startup: { stdioMs: 600_000 } })
    await world.add('mute', { answers: false }, { timeouts: { introspectMs: 300 } })
    await expect(world.introspect('mute')).rejects.toMatchObject({ code: 'server-timeout' })
  })
})

describe('a cancelled startup', () => {
  it('ends the process, rejects waiting callers and shows the server as disconnected', async () => {
    await using world = quirkyHost()
    const { host } = world
    const server = await world.add('mute', { answers: false })
    const stored = await host.toolkits.find('ann', 'mute')
    const looking = expect(world.introspect('mute')).rejects.toMatchObject({ code: 'cancelled' })
    await expect.poll(() => server.pids().length).toBe(1)
    expect(await host.connections.cancel(stored, 'ann')).toBe(true)
    await looking
    expect(server.pids().every(isGone)).toBe(true)
    const cancelled = { status: 'disconnected', reason: 'The start was cancelled.' }
    expect((await host.views.one('ann', 'mute')).state).toMatchObject(cancelled)
    // Whoever lists servers does not start it again.
    expect((await host.views.list('ann'))[0]?.state).toMatchObject(cancelled)
    expect({ starts: server.pids().length, again: await host.connections.cancel(stored, 'ann') }).toEqual({
      starts: 1,
      again: false,
    })
  })

  it('ends the process even while tools are first listed', async () => {
    await using world = quirkyHost()
    const server = await world.add('mute', { ignores: ['tools/list'] })
    const looking = expect(world.introspect('mute')).rejects.toMatchObject({ code: 'cancelled' })
    await expect.poll(async () => (await world.host.views.one('ann', 'mute')).state.phase).toBe('listing')
    await world.host.connections.cancel(await world.host.toolkits.find('ann', 'mute'), 'ann')
    await looking
    await expect.poll(() => server.pids().every(isGone)).toBe(true)
  })

  it('cannot be requested by another user', async () => {
    await using world = quirkyHost()
    const server = await world.add('mute', { answers: false })
    const looking = world.introspect('mute').catch((error: unknown) => HostError.from(error).code)
    const stored = await world.host.toolkits.find('ann', 'mute')
    await expect.poll(() => server.pids().length).toBe(1)
    expect(await world.host.connections.cancel(stored, 'bob')).toBe(false)
    expect(await world.host.connections.cancel(stored, 'ann')).toBe(true)
    expect(await looking).toBe('cancelled')
  })
})

describe('the command environment', () => {
  it('sets a fixed Python hash seed that the record can override', async () => {
    await using world = quirkyHost()
    const plain = await world.add('plain', {})
    const own = await world.add('own', {}, { env: { PYTHONHASHSEED: '7' } })
    await world.introspect('plain')
    await world.introspect('own')
    expect([plain.seed(), own.seed()]).toEqual(['0', '7'])
  })
})
