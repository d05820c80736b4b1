/**
 * `kill -9` under about 200 calls a second: the server's own log is the truth, and for every call in it there is a line.
 * `npm run prove:audit` does it ten times, on PGlite and on PostgreSQL.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyPrepared } from '../../../../test/prepare-pglite.ts'
import { callAndKill, missing, received, show } from '../fixtures/kill-audited.ts'

const TIMES = process.env.LOADOUT_PROVE === 'full' ? 10 : 1
const masterKey = randomBytes(32).toString('base64')

let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-killed-'))
  await copyPrepared(join(folder, 'data'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the log after kill -9 during calls', () => {
  it(`contains every call that the server received in a valid chain, ${TIMES} times`, {
    timeout: 300_000,
  }, async () => {
    let left = 0
    for (let round = 0; round < TIMES; round++) {
      await callAndKill({ folder, masterKey, from: round * 100_000 }, 120 + Math.random() * 240)
      const numbers = await received(folder)
      const { found, verdict, items } = await show({ folder, masterKey })
      left += found
      expect(numbers.filter((n) => n >= round * 100_000).length).toBeGreaterThan(100)
      expect(missing(numbers, items)).toEqual([])
      expect(verdict).toEqual({ ok: true, rows: items.length })
      const lines = items
        .map(({ callId, outcome }) => `${callId} ${outcome}`)
        .filter((line) => line.startsWith('call_'))
      expect(new Set(lines).size).toBe(lines.length)
    }
    // Else nothing was shipped after a death, and this shows nothing.
    expect(left).toBeGreaterThan(0)
  })

  it('misses calls without a journal, which the test detects', { timeout: 120_000 }, async () => {
    await callAndKill({ folder, masterKey, careless: true }, 120)
    const numbers = await received(folder)
    const { items } = await show({ folder, masterKey })
    expect(missing(numbers, items).length).toBeGreaterThan(0)
  })
})
