/** What is said of recorded calls whose process is gone, or seemed to be: hosts over one storage, one of them cut off. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { processKeyRing } from '../credentials/lazy-key-ring.ts'
import { createHost, type Host } from '../host.ts'
import { rule } from '../policy/rule.ts'
import type { CallRow } from '../schema/call.ts'
import { memory } from '../storage/memory.ts'
import type { Storage } from '../storage/storage.ts'
import { type Breakable, breakable } from '../testing/breakable-storage.ts'

const LEASE_MS = 300
let storage: Storage
let line: Breakable
let host: Host
let other: Host
let made: number
let finish: () => void

const open = (over: Storage) => {
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const slow = { name: 'slow', execute: () => finished.then(() => `made ${++made}`) }
  const pay = { name: 'pay', execute: () => `paid ${++made}` }
  const odd = { name: 'odd', execute: () => 'a\0b' }
  return createHost({
    // Each closes its own line, and the storage stays.
    storage: { ...over, name: 'memory', close: async () => {} },
    keyRing: processKeyRing(),
    tools: [slow, pay, odd].map((tool) => ({ ...tool, inputSchema: { type: 'object' } })) as never,
    policy: [rule('app.pay', 'ask'), rule('*', 'allow')],
    processLeaseMs: LEASE_MS,
  })
}
beforeEach(() => {
  made = 0
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

const start = (at: Host, tool: string, idempotencyKey = 'k') =>
  at.records.start(
    { userId: 'ann', toolkit: 'app', tool, arguments: {}, caller: { type: 'direct' } },
    { idempotencyKey },
  )
const codeOf = ({ outcomeJson }: CallRow) => (outcomeJson as { error?: { code: string } } | null)?.error?.code
const rowOf = (callId: string) => storage.transaction({ userId: 'ann' }, (tx) => tx.get('calls', callId))
const told = (callId: string) => async () => codeOf(await host.records.get('ann', callId))
const pendingOf = async (at: Host) => (await at.approvals.list('ann', { status: 'pending' }))[0]?.id ?? ''

describe('a process that is gone', () => {
  it('in the middle of a call: its outcome is not known; should it come after all, it is', async () => {
    const { callId } = await start(other, 'slow')
    // Nobody takes it for gone while it lives, however long it takes.
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS * 1.5))
    expect(await told(callId)()).toBeUndefined()
    line.isBroken = true
    await expect.poll(told(callId), { timeout: LEASE_MS * 4 }).toBe('outcome-unknown')
    const again = await start(host, 'slow')
    expect('row' in again && again.row).toMatchObject({ callId, status: 'failed', finishedAt: expect.any(Date) })
    line.isBroken = false
    finish()
    await expect.poll(() => host.records.get('ann', callId), { timeout: 5000 }).toMatchObject({ status: 'ok' })
    expect(made).toBe(1)
  })

  it('while it waited: the question is over, and the same key makes the call once', async () => {
    const { callId } = await start(other, 'pay')
    await expect.poll(() => pendingOf(host)).not.toBe('')
    const asked = await pendingOf(host)
    line.isBroken = true
    await expect.poll(() => pendingOf(host), { timeout: LEASE_MS * 4 }).toBe('')
    await expect(host.approvals.answer('ann', asked, { decision: 'allow' })).rejects.toMatchObject({
      code: 'conflict',
      action: 'Make the call again.',
    })
    const both = await Promise.all([start(host, 'pay'), start(host, 'pay')])
    expect(both.filter((one) => 'running' in one)).toHaveLength(1)
    expect(new Set(both.map((one) => one.callId)).size).toBe(1)
    expect(await told(callId)()).toBe('call-not-made')
    // Back again, the first one finds its question ended, and makes nothing.
    line.isBroken = false
    await expect.poll(() => pendingOf(host)).not.toBe('')
    await host.approvals.answer('ann', await pendingOf(host), { decision: 'allow' })
    await expect.poll(() => rowOf(both[0].callId)).toMatchObject({ status: 'ok', dedupeKey: 'k' })
    expect(made).toBe(1)
  })

  it('after its question was answered: it was not made all the same, and denied is denied', async () => {
    const [allowed, denied] = [await start(other, 'pay', 'a'), await start(other, 'pay', 'd')]
    await expect.poll(() => host.approvals.list('ann', { status: 'pending' })).toHaveLength(2)
    line.isBroken = true
    for (const approval of await host.approvals.list('ann')) {
      const decision = approval.callId === allowed.callId ? 'allow' : 'deny'
      await host.approvals.answer('ann', approval.id, { decision })
    }
    await expect.poll(told(allowed.callId), { timeout: LEASE_MS * 4 }).toBe('call-not-made')
    expect(await told(denied.callId)()).toBe('denied')
    // The key is free, and the first one, back again, finds that it was given up.
    expect(await start(host, 'pay', 'a')).toHaveProperty('running')
    line.isBroken = false
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS))
    expect(made).toBe(0)
  })

  it('because it closed: what waited may be made again at once', async () => {
    const { callId } = await start(other, 'pay')
    await expect.poll(() => pendingOf(host)).not.toBe('')
    await other.close()
    expect(await told(callId)()).toBe('call-not-made')
    expect(await start(host, 'pay')).toHaveProperty('running')
  })
})

describe('a record', () => {
  it('is finished also where the result cannot be kept, or the storage was away', async () => {
    const odd = await start(host, 'odd', 'o')
    const text = 'The result could not be kept.'
    await expect.poll(() => rowOf(odd.callId)).toMatchObject({ status: 'ok', outcomeJson: { content: [{ text }] } })
    const slow = await start(other, 'slow', 's')
    line.isBroken = true
    finish()
    await new Promise((resolve) => setTimeout(resolve, 50))
    line.isBroken = false
    await expect.poll(() => rowOf(slow.callId), { timeout: 5000 }).toMatchObject({ finishedAt: expect.any(Date) })
  })

  it('that has expired leaves its key to the next', async () => {
    const { callId } = await start(host, 'odd')
    const set = { expiresAt: new Date(Date.now() - 1) }
    await storage.transaction({ userId: 'ann' }, (tx) => tx.update('calls', callId, { set }))
    expect(await start(host, 'odd')).toHaveProperty('running')
  })
})
