/** Waiting for a run that is worked on here: its row is read when it settled, and whoever stops it ends the wait. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createProcessLease, type ProcessLease } from '../../src/processes/heartbeat.ts'
import { createEmbeddedEngine } from '../../src/runs/embedded.ts'
import type { Engine } from '../../src/runs/engine.ts'
import { memory } from '../../src/storage/memory.ts'
import type { Storage } from '../../src/storage/storage.ts'

const STEPS = 20
let inner: Storage
let presence: ProcessLease
let engine: Engine
let transactions: number
let gate: PromiseWithResolvers<void>

beforeEach(async () => {
  inner = memory()
  await inner.ready()
  transactions = 0
  gate = Promise.withResolvers()
  presence = createProcessLease(inner)
  engine = open(presence, () => transactions++)
  await engine.open()
})
afterEach(async () => {
  vi.useRealTimers()
  gate.resolve()
  await engine.close()
  await presence.close()
})

function open(of: ProcessLease, count: () => void): Engine {
  const storage: Storage = {
    name: inner.name,
    watch: (listener) => inner.watch(listener),
    ready: () => inner.ready(),
    close: async () => {},
    transaction: (access, work) => {
      count()
      return inner.transaction(access, work)
    },
  }
  return createEmbeddedEngine({
    storage,
    presence: of,
    lookMs: 60_000,
    hasAnswer: async () => false,
    works: {
      async program({ log, input }) {
        for (let seq = 0; seq < STEPS; seq++)
          await log.step(
            { seq, key: `${seq}`, kind: 'call', repeatable: false },
            { request: null, execute: async () => ({ value: seq }) },
          )
        // It does not hear that it is told to stop.
        if (input.waits) await gate.promise
        return { status: 'completed', output: STEPS }
      },
    },
  })
}

it('waiting for a run reads it once and writes only the start and the end of each step', async () => {
  // While it goes on it is looked at every 100 ms. No time passes here.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  transactions = 0
  const { id } = await engine.start({ userId: 'ann', kind: 'program', input: {} })
  expect((await engine.settled('ann', id)).output).toBe(STEPS)
  // Longer than its changes are looked at afterwards.
  await vi.advanceTimersByTimeAsync(250)
  expect(transactions).toBeLessThanOrEqual(1 + 2 * STEPS + 1 + 1)
})

it('cancelling a run ends the wait even if its work continues', async () => {
  const { id } = await engine.start({ userId: 'ann', kind: 'program', input: { waits: true } })
  const settled = engine.settled('ann', id)
  await engine.cancel('ann', id)
  expect((await settled).status).toBe('cancelled')
})

it('a run that another process ends also ends the wait', async () => {
  const { id } = await engine.start({ userId: 'ann', kind: 'program', input: { waits: true } })
  const settled = engine.settled('ann', id)
  const set = { status: 'failed' as const, leaseOwner: null, errorJson: { code: 'internal', message: 'elsewhere' } }
  await inner.transaction({ userId: 'ann' }, (tx) => tx.update('runs', id, { set }))
  expect((await settled).error?.message).toBe('elsewhere')
})

it('a signal ends the wait, and another user gets not-found', async () => {
  const { id } = await engine.start({ userId: 'ann', kind: 'program', input: { waits: true } })
  expect((await engine.settled('ann', id, { signal: AbortSignal.timeout(20) })).status).toBe('running')
  await expect(engine.settled('bob', id)).rejects.toMatchObject({ code: 'not-found' })
})

it('another process polls a run now and then and not at each step', async () => {
  const there = createProcessLease(inner)
  let looks = 0
  const other = open(there, () => looks++)
  await other.open()
  looks = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { id } = await engine.start({ userId: 'ann', kind: 'program', input: {} })
  await engine.settled('ann', id)
  await vi.advanceTimersByTimeAsync(250)
  // One or two as it begins, before it is known to be somebody's, and then every 100 ms.
  expect(looks).toBeLessThanOrEqual(4 + 3)
  expect(looks).toBeGreaterThan(0)
  vi.useRealTimers()
  await other.close()
  await there.close()
})
