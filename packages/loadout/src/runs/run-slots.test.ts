/** Runs of many users in one process: whoever has many leaves room for the others. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createProcessLease, type ProcessLease } from '../processes/heartbeat.ts'
import { memory } from '../storage/memory.ts'
import type { Storage } from '../storage/storage.ts'
import { createEmbeddedEngine } from './embedded.ts'
import type { Engine } from './engine.ts'
import { newRun } from './run-rows.ts'
import { RunSlots } from './run-slots.ts'

const start = (userId: string, more = {}) => engine.start({ userId, kind: 'program', input: { userId }, ...more })
const statusOf = async (userId: string, runId: string) => (await engine.get(userId, runId)).status

let storage: Storage
let presence: ProcessLease
let engine: Engine
let working: string[]
let ends: Map<string, () => void>

const open = (atOnce: number) =>
  createEmbeddedEngine({
    storage,
    presence,
    atOnce,
    lookMs: 50,
    hasAnswer: async () => false,
    works: {
      async program({ runId, userId, signal }) {
        working.push(userId)
        await new Promise<void>((resolve) => {
          ends.set(runId, resolve)
          signal.addEventListener('abort', () => resolve())
        })
        return { status: 'completed', output: userId }
      },
    },
  })

beforeEach(async () => {
  storage = memory()
  await storage.ready()
  presence = createProcessLease(storage)
  working = []
  ends = new Map()
  engine = open(3)
})
afterEach(async () => {
  await engine.close()
  await presence.close()
})

describe('concurrent runs', () => {
  it('of one user leave room for another user, who does not wait', async () => {
    for (let i = 0; i < 10; i++) await start('ann')
    const { id } = await start('bob')
    expect([working, await statusOf('bob', id)]).toEqual([['ann', 'ann', 'bob'], 'running'])
  })

  it('give the next free slot to the user with the fewest runs', async () => {
    for (let i = 0; i < 10; i++) await start('ann')
    const bob = await start('bob')
    await start('cat')
    expect(working).toEqual(['ann', 'ann', 'bob'])
    ends.get(bob.id)?.()
    await expect.poll(() => working).toEqual(['ann', 'ann', 'bob', 'cat'])
  })

  it('all complete in the end', async () => {
    const runs = await Promise.all(Array.from({ length: 30 }, (_, n) => start(`user-${n % 3}`)))
    const finish = setInterval(() => {
      for (const end of ends.values()) end()
    }, 5)
    const settled = await Promise.all(runs.map(({ id }, n) => engine.settled(`user-${n % 3}`, id)))
    clearInterval(finish)
    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['completed']))
  })

  it('need no slot if another run waits for them', async () => {
    for (let i = 0; i < 3; i++) await start(`user-${i}`)
    const { id } = await start('user-0', { isInside: true })
    expect(await statusOf('user-0', id)).toBe('running')
  })

  it('that a process left behind are found after many runs of another user', async () => {
    const rows = [...Array.from({ length: 450 }, () => 'ann'), 'bob'].map((userId) =>
      newRun({ userId, kind: 'program', input: {} }),
    )
    for (const row of rows) await storage.transaction({ userId: row.userId }, (tx) => tx.insert('runs', row))
    await engine.open()
    await expect.poll(() => working).toContain('bob')
  })
})

it('released run slots become free once each', () => {
  const places = new RunSlots(2)
  const leave = places.take({ userId: 'ann' })
  places.take({ userId: 'ann' })
  places.wait({ userId: 'bob', runId: 'r3' })
  expect([places.take({ userId: 'bob' }), places.next()]).toEqual([undefined, undefined])
  leave?.()
  leave?.()
  expect(places.next()).toEqual({ userId: 'bob', runId: 'r3' })
  expect(places.take({ userId: 'bob' })).toBeDefined()
  expect(places.take({ userId: 'cat' })).toBeUndefined()
})
