/** Counting, returning, lowering and removing limits through the pipeline of a host. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFaultServer } from '../../../test/fixtures/fault-http.ts'
import type { Fault } from '../../../test/fixtures/fault-script.ts'
import { memoryJournal } from '../../audit/journal/journal.ts'
import { webDrivers } from '../../connections/web-drivers.ts'
import { createExecutionContext } from '../../context.ts'
import { HostError } from '../../errors.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import type { CallOutcome } from '../call.ts'

const owner = { tier: 'user', userId: 'ann' } as const
/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9/mcp'
let host: HostServices
let isFull: boolean
let came: number
beforeEach(async () => {
  isFull = false
  came = 0
  const journal = memoryJournal()
  const append: typeof journal.append = (entry) => {
    if (isFull) throw new HostError('audit-unavailable', { detail: 'The disk is full.' })
    return journal.append(entry)
  }
  host = createServices({
    policy: [rule('*', 'allow')],
    audit: { journal: { ...journal, append } },
    drivers: webDrivers({ unguarded: true }),
  })
  const tool = (name: string, execute: (input: never) => unknown) => ({
    name,
    inputSchema: { type: 'object' },
    execute,
  })
  const tools = [
    tool('look', () => ++came),
    tool('say', ({ text }: { text: string }) => text),
    tool('repeat', ({ text }: { text: string }) => ({
      content: [{ type: 'text', text }],
      structuredContent: { result: text },
    })),
    tool('wait', () => new Promise(() => {})),
  ]
  await host.toolkits.register({ name: 'kit', tools }, owner)
  const far = { name: 'far', url: NOWHERE, tools: [{ name: 'look', inputSchema: { type: 'object' } }] }
  await host.toolkits.register(far, owner)
})
afterEach(() => host.close())

const call = (toolkit: string, tool: string, args: object = {}): Promise<CallOutcome> =>
  host.calls.start({ userId: 'ann', toolkit, tool, arguments: args as never, caller: { type: 'direct' } }).outcome
const faulty = async (faults: Fault[]) => {
  const server = await startFaultServer({ sse: true, at: { 'tools/call': faults } })
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() }
}
const errorOf = (outcome: CallOutcome) => ('error' in outcome ? outcome.error : undefined)

describe('a failed call', () => {
  it('uses no tokens and counts as a call once its intent is recorded', async () => {
    await host.app.update({ limits: { maxTokensPerDay: 5, maxCallsPerHour: 100 } })
    for (let tries = 0; tries < 12; tries++) expect((await call('far', 'look')).status).toBe('failed')
    expect(await host.usage('ann')).toMatchObject({ tokensToday: { used: 0 }, callsThisHour: { used: 12 } })
    expect((await call('kit', 'look')).status).toBe('ok')
    isFull = true
    expect(await call('kit', 'look')).toMatchObject({ status: 'failed', error: { code: 'audit-unavailable' } })
    isFull = false
    expect(await host.usage('ann')).toMatchObject({ tokensToday: { used: 1 }, callsThisHour: { used: 13 } })
  })

  it('is counted even without a limit', async () => {
    for (let tries = 0; tries < 3; tries++) await call('far', 'look')
    expect(await host.usage('ann')).toMatchObject({ tokensToday: { used: 0 }, callsThisHour: { used: 3 } })
  })
})

describe('a lowered limit', () => {
  it('applies at once, whatever was reserved under the higher limit', async () => {
    await host.preferences.update('ann', { costLimits: { maxCallsPerHour: 1000 } })
    for (let made = 0; made < 3; made++) expect((await call('kit', 'look')).status).toBe('ok')
    await host.preferences.update('ann', { costLimits: { maxCallsPerHour: 1 } })
    const after = await Promise.all(Array.from({ length: 20 }, () => call('kit', 'look')))
    expect(after.map(({ status }) => status)).toEqual(Array(20).fill('limited'))
    expect(await host.usage('ann')).toMatchObject({ callsThisHour: { used: 3, limit: 1 } })
    await host.preferences.update('ann', { costLimits: { maxCallsPerHour: 5 } })
    const last = await Promise.all(Array.from({ length: 20 }, () => call('kit', 'look')))
    expect(last.filter(({ status }) => status === 'ok')).toHaveLength(2)
    expect(came).toBe(5)
  })
})

describe('limit removal', () => {
  it('works with null in app settings and in preferences', async () => {
    await host.app.update({ limits: { maxCallsPerHour: 1, resultBytes: 7, callMs: 50 }, audit: { retentionDays: 3 } })
    await host.preferences.update('ann', { costLimits: { maxCallsPerHour: 1, maxTokensPerDay: 9 } })
    await call('kit', 'look')
    expect((await call('kit', 'look')).status).toBe('limited')
    const config = await host.app.update({
      limits: { maxCallsPerHour: null, resultBytes: null },
      audit: { retentionDays: null },
    })
    expect(config.limits).toEqual({ argumentBytes: 1_048_576, resultBytes: 100_000, callMs: 50 })
    expect(config.audit).toEqual({})
    expect(await host.app.get()).toEqual(config)
    const one = await host.preferences.update('ann', { costLimits: { maxCallsPerHour: null } })
    expect(one.costLimits).toEqual({ maxTokensPerDay: 9 })
    expect((await call('kit', 'look')).status).toBe('ok')
    expect((await host.preferences.update('ann', { costLimits: null, theme: 'dark' })).costLimits).toEqual({})
  })

  it('works for limits set by createServices and rejects invalid values', async () => {
    await using limitedHost = createServices({ app: { limits: { maxCallsPerHour: 3, resultBytes: 9 } } })
    const { limits } = await limitedHost.app.update({ limits: { maxCallsPerHour: null, resultBytes: null } })
    expect(limits).toEqual({ argumentBytes: 1_048_576, resultBytes: 9 })
    await expect(limitedHost.app.update({ limits: { maxCallsPerHour: 'none' } })).rejects.toMatchObject({
      errors: [{ path: 'limits.maxCallsPerHour' }],
    })
  })
})

describe('the call timeout', () => {
  it('reports limit-reached, and a toolkit timeout reports server-timeout', async () => {
    await host.app.update({ limits: { callMs: 50 } })
    const late = await call('kit', 'wait')
    expect(late).toMatchObject({ status: 'limited', error: { code: 'limit-reached', status: 429 } })
    expect(errorOf(late)?.message).toContain('callMs is 50')
    await host.toolkits.update('kit', { timeouts: { callMs: 20 } }, owner)
    expect(await call('kit', 'wait')).toMatchObject({ status: 'failed', error: { code: 'server-timeout' } })
  })

  it('ends a call whose server keeps sending progress', async () => {
    await using server = await faulty([{ do: 'progress', count: 100, everyMs: 20 }])
    await host.toolkits.register({ name: 'slow', url: server.url, timeouts: { callMs: 60_000 } }, owner)
    await host.app.update({ limits: { callMs: 250 } })
    const late = await call('slow', 'echo')
    expect([late.status, errorOf(late)?.message]).toEqual(['limited', expect.stringContaining('callMs is 250')])
    await using silent = await faulty([{ do: 'hang' }])
    await host.toolkits.register({ name: 'silent', url: silent.url, timeouts: { callMs: 100 } }, owner)
    expect(errorOf(await call('silent', 'echo'))?.message).toBe('The server did not answer within 100 ms.')
  })
})

describe('byte limits', () => {
  it('count UTF-8 bytes in arguments and results', async () => {
    await host.app.update({ limits: { argumentBytes: 100, resultBytes: 60 } })
    const large = await call('kit', 'say', { text: '漢'.repeat(40) })
    expect(errorOf(large)?.message).toContain('The arguments have 131 bytes; argumentBytes is 100.')
    const stored = await call('kit', 'say', { text: '漢'.repeat(25) })
    expect(stored).toMatchObject({ status: 'ok', resultHandle: expect.any(String) })
    expect(await call('kit', 'say', { text: 'x'.repeat(60) })).not.toHaveProperty('resultHandle')
  })
})

describe('a run', () => {
  it('of an execution context has its own call limit and its ID in the log', async () => {
    await host.app.update({ limits: { maxCallsPerRun: 2 } })
    const context = createExecutionContext({ principal: { kind: 'session', userId: 'ann' }, runId: 'run-7' })
    await using tools = await host.setupToolkits(['kit'], { context })
    const all: CallOutcome[] = []
    for (let tries = 0; tries < 5; tries++) all.push(await tools.call({ name: 'kit.look', arguments: {} }))
    expect(all.map(({ status }) => status)).toEqual(['ok', 'ok', 'limited', 'limited', 'limited'])
    expect(errorOf(all[2] as CallOutcome)?.message).toContain('maxCallsPerRun is 2 for this run')
    const { items } = await host.audit.list({ userId: 'ann' })
    expect(items.filter((entry) => entry.ref === 'kit.look').map(({ runId }) => runId)).toContain('run-7')
    const other = createExecutionContext({ principal: { kind: 'session', userId: 'ann' }, runId: 'run-8' })
    await using next = await host.setupToolkits(['kit'], { context: other })
    expect((await next.call({ name: 'kit.look', arguments: {} })).status).toBe('ok')
  })
})

describe('a text that is repeated as structured content', () => {
  it('counts once in the tokens and in the audit log', async () => {
    expect((await call('kit', 'repeat', { text: 'x'.repeat(400) })).status).toBe('ok')
    expect(await host.usage('ann')).toMatchObject({ tokensToday: { used: 100 } })
    const { items } = await host.audit.list({ userId: 'ann' }, {})
    expect(items.find(({ outcome }) => outcome === 'ok')?.detail.resultSize).toBe(400)
  })
})
