/** Recorded calls whose process is dead or seems dead: several hosts over one storage, one of them cut off. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Breakable, breakable } from '../../../test/fixtures/breakable-storage.ts'
import { processKeyRing } from '../../credentials/aes-key-ring.ts'
import { HostError } from '../../errors.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import type { CallRow } from '../../schema/records/call.ts'
import { memory } from '../../storage/memory.ts'
import type { Storage } from '../../storage/storage.ts'

const LEASE_MS = 300
let storage: Storage
let line: Breakable
let host: HostServices
let other: HostServices
let made: number
let gate: PromiseWithResolvers<void>
const finish = () => gate.resolve()

const optionsOf = () => {
  const finished = gate.promise
  const fail = (code: 'server-crashed' | 'sign-in-needed') => () => Promise.reject(new HostError(code))
  const tools = [
    { name: 'slow', execute: () => finished.then(() => `made ${++made}`) },
    { name: 'slow_pay', execute: () => finished.then(() => `made ${++made}`) },
    { name: 'pay', execute: () => `paid ${++made}` },
    { name: 'odd', execute: () => 'a\0b' },
    { name: 'fails', execute: fail('server-crashed') },
    { name: 'signed_out', execute: fail('sign-in-needed') },
    {
      name: 'picture',
      execute: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: 'a'.repeat(2_000_000) }] }),
    },
    { name: 'strict', inputSchema: { type: 'object', required: ['to'] }, execute: () => 'x' },
  ]
  return {
    keyRing: processKeyRing(),
    tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })) as never,
    policy: [rule('app.*pay', 'ask'), rule('*', 'allow')],
    processLeaseMs: LEASE_MS,
  }
}
// Each closes its own line, and the storage stays.
const open = (over: Storage) =>
  createServices({ ...optionsOf(), storage: { ...over, name: 'memory', close: async () => {} } })
beforeEach(() => {
  made = 0
  gate = Promise.withResolvers()
  storage = memory()
  line = breakable(storage)
  host = open(storage)
  other = open(line.storage)
})
afterEach(async () => {
  finish()
  line.isBroken = false
  await Promise.all([host.close(), other.close()])
  await storage.close()
})

const start = (at: HostServices, tool: string, idempotencyKey = 'k') =>
  at.records.start(
    { userId: 'ann', toolkit: 'app', tool, arguments: {}, caller: { type: 'direct' } },
    { idempotencyKey },
  )
const codeOf = ({ outcomeJson }: CallRow) => (outcomeJson as { error?: { code: string } } | null)?.error?.code
const rowOf = (callId: string) => storage.transaction({ userId: 'ann' }, (tx) => tx.get('calls', callId))
const errorCodeOf = (callId: string) => async () => codeOf(await host.records.get('ann', callId))
const pendingOf = async (at: HostServices) => (await at.approvals.list('ann', { status: 'pending' }))[0]?.id ?? ''

describe('a stopped process', () => {
  it('leaves a running call with an unknown outcome until the outcome arrives', async () => {
    const { callId } = await start(other, 'slow')
    // Nobody takes it for gone while it lives, however long it takes.
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS * 1.5))
    expect(await errorCodeOf(callId)()).toBeUndefined()
    line.isBroken = true
    await expect.poll(errorCodeOf(callId)).toBe('outcome-unknown')
    const again = await start(host, 'slow')
    expect('row' in again && again.row).toMatchObject({ callId, status: 'failed', finishedAt: expect.any(Date) })
    line.isBroken = false
    finish()
    await expect.poll(() => host.records.get('ann', callId)).toMatchObject({ status: 'ok' })
    expect(made).toBe(1)
  })

  it('closes its pending approval request, and the same key makes the call once', async () => {
    const { callId } = await start(other, 'pay')
    await expect.poll(() => pendingOf(host)).not.toBe('')
    const approvalId = await pendingOf(host)
    line.isBroken = true
    await expect.poll(() => pendingOf(host)).toBe('')
    await expect(host.approvals.answer('ann', approvalId, { decision: 'allow' })).rejects.toMatchObject({
      code: 'conflict',
      action: 'Make the call again.',
    })
    const both = await Promise.all([start(host, 'pay'), start(host, 'pay')])
    expect(both.filter((one) => 'running' in one)).toHaveLength(1)
    expect(new Set(both.map((one) => one.callId)).size).toBe(1)
    expect(await errorCodeOf(callId)()).toBe('call-not-made')
    // Back again, the first one finds its question ended, and makes nothing.
    line.isBroken = false
    await expect.poll(() => pendingOf(host)).not.toBe('')
    await host.approvals.answer('ann', await pendingOf(host), { decision: 'allow' })
    await expect.poll(() => rowOf(both[0].callId)).toMatchObject({ status: 'ok', dedupeKey: 'k' })
    expect(made).toBe(1)
  })

  it('does not make a call that was allowed afterwards, and a denied call stays denied', async () => {
    const allowed = await start(other, 'pay', 'a')
    const denied = await start(other, 'pay', 'd')
    await expect.poll(() => host.approvals.list('ann', { status: 'pending' })).toHaveLength(2)
    line.isBroken = true
    for (const approval of await host.approvals.list('ann')) {
      const decision = approval.callId === allowed.callId ? 'allow' : 'deny'
      await host.approvals.answer('ann', approval.id, { decision })
    }
    await expect.poll(errorCodeOf(allowed.callId)).toBe('call-not-made')
    expect(await errorCodeOf(denied.callId)()).toBe('denied')
    // The key is free, and the first process finds its call ended.
    expect(await start(host, 'pay', 'a')).toHaveProperty('running')
    line.isBroken = false
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS))
    expect(made).toBe(0)
  })

  it('frees its pending calls at once if it closed', async () => {
    const { callId } = await start(other, 'pay')
    await expect.poll(() => pendingOf(host)).not.toBe('')
    await other.close()
    expect(await errorCodeOf(callId)()).toBe('call-not-made')
    expect(await start(host, 'pay')).toHaveProperty('running')
  })
})

describe('an idempotency key', () => {
  it('is free again if no call reached a server: limited, denied, invalid, unanswered, signed out', async () => {
    await host.app.update({ limits: { maxCallsPerHour: 0 } })
    const limited = await start(host, 'odd')
    await expect.poll(() => rowOf(limited.callId)).toMatchObject({ status: 'limited', dedupeKey: limited.callId })
    await host.app.update({ limits: { maxCallsPerHour: 5 } })
    const pending = await start(host, 'pay')
    expect(pending).toHaveProperty('running')
    await expect.poll(() => pendingOf(host)).not.toBe('')
    await host.approvals.answer('ann', await pendingOf(host), { decision: 'deny' })
    await expect.poll(() => rowOf(pending.callId)).toMatchObject({ status: 'denied', dedupeKey: pending.callId })
    const wrong = await start(host, 'strict')
    await expect.poll(() => rowOf(wrong.callId)).toMatchObject({ status: 'failed', dedupeKey: wrong.callId })
    const out = await start(host, 'signed_out')
    await expect.poll(() => rowOf(out.callId)).toMatchObject({ status: 'sign-in-needed', dedupeKey: out.callId })
  })

  it('stays with a call that reached a server, whatever its outcome', async () => {
    const failed = await start(host, 'fails')
    await expect.poll(() => rowOf(failed.callId)).toMatchObject({ status: 'failed', dedupeKey: 'k' })
    const again = await start(host, 'fails')
    expect('row' in again && again.row).toMatchObject({ outcome: { error: { code: 'server-crashed' } } })
  })
})

describe('a call record', () => {
  it('is pending only while the approval is pending', async () => {
    const { callId } = await start(host, 'slow_pay')
    await expect.poll(() => rowOf(callId)).toMatchObject({ status: 'pending', approvalId: expect.any(String) })
    await host.approvals.answer('ann', await pendingOf(host), { decision: 'allow' })
    await expect.poll(() => rowOf(callId)).toMatchObject({ status: 'running', finishedAt: null })
    finish()
    await expect.poll(() => rowOf(callId)).toMatchObject({ status: 'ok' })
  })

  it('contains all validation errors, and a large result by its handle', async () => {
    const wrong = await start(host, 'strict')
    await expect.poll(() => rowOf(wrong.callId)).toMatchObject({ status: 'failed' })
    const { outcome } = await host.records.get('ann', wrong.callId)
    expect(outcome).toMatchObject({ error: { code: 'invalid-input', errors: [{ path: 'arguments.to' }] } })
    const large = await start(host, 'picture', 'p')
    const stored = await host.records.settled('ann', large.callId)
    expect(stored.outcome).toMatchObject({ status: 'ok', resultHandle: expect.stringMatching(/^rslt_/) })
    const { resultHandle = '' } = stored.outcome as { resultHandle?: string }
    expect((await host.results.read('ann', resultHandle, { limit: 100_000 })).characters).toBeGreaterThan(2_000_000)
  })

  it('can be awaited, also in another process', async () => {
    const { callId } = await start(other, 'slow')
    const waiting = host.records.settled('ann', callId)
    expect(await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))])).toBe('waits')
    finish()
    expect(await waiting).toMatchObject({ status: 'ok' })
    const stop = new AbortController()
    gate = Promise.withResolvers()
    await using third = open(storage)
    const stuck = await start(third, 'slow', 'another')
    const settled = host.records.settled('ann', stuck.callId, { signal: stop.signal })
    stop.abort()
    expect(await settled).toMatchObject({ status: 'running' })
    finish()
  })

  it('is stored in the background for every awaited call', async () => {
    // As a storage that outlives its processes.
    const named = { ...storage, name: 'pglite', close: async () => {} }
    const lasting = createServices({ ...optionsOf(), storage: named, audit: { strict: false } })
    const call = { userId: 'ann', toolkit: 'app', arguments: {}, caller: { type: 'direct' as const } }
    const quick = lasting.records.startWaited({ ...call, tool: 'odd' })
    const pending = lasting.records.startWaited({ ...call, tool: 'pay' })
    await pending.running.pending
    await pending.persist()
    expect(await host.records.get('ann', pending.running.callId)).toMatchObject({
      status: expect.stringMatching(/running|pending/),
    })
    await quick.running.outcome
    await lasting.close()
    expect(await host.records.get('ann', quick.running.callId)).toMatchObject({
      status: 'ok',
      outcome: { status: 'ok' },
    })
  })

  it('is completed even if the result cannot be stored or the storage was unavailable', async () => {
    const odd = await start(host, 'odd', 'o')
    const text = 'The result could not be kept.'
    await expect.poll(() => rowOf(odd.callId)).toMatchObject({ status: 'ok', outcomeJson: { content: [{ text }] } })
    const slow = await start(other, 'slow', 's')
    line.isBroken = true
    const { refused } = line
    finish()
    await expect.poll(() => line.refused).toBeGreaterThan(refused)
    line.isBroken = false
    await expect.poll(() => rowOf(slow.callId)).toMatchObject({ finishedAt: expect.any(Date) })
  })

  it('releases its key after it expired', async () => {
    const { callId } = await start(host, 'odd')
    const set = { expiresAt: new Date(Date.now() - 1) }
    await storage.transaction({ userId: 'ann' }, (tx) => tx.update('calls', callId, { set }))
    expect(await start(host, 'odd')).toHaveProperty('running')
  })
})
