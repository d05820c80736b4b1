import { describe, expect, it } from 'vitest'
import type { SandboxHandle, SandboxListener } from './handle.ts'
import { SandboxPool } from './pool.ts'
import type { ToSandbox } from './protocol.ts'

/** A box that is told what to do by the test: no thread is behind it. */
function factory() {
  const made: (SandboxHandle & { ended: boolean; says(type: 'ready'): void; lost(): void; sent: ToSandbox[] })[] = []
  const open = async () => {
    let listener: SandboxListener | undefined
    const box = {
      ended: false,
      sent: [] as ToSandbox[],
      send: (message: ToSandbox) => void box.sent.push(message),
      listen(next: SandboxListener) {
        listener = next
      },
      threadMs: async () => undefined,
      readyMs: () => undefined,
      hold() {},
      async end() {
        box.ended = true
      },
      says: (type: 'ready') => listener?.message({ type }),
      lost: () => listener?.lost('gone'),
    }
    made.push(box)
    return box
  }
  return { made, open }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('spare sandboxes', () => {
  it('are opened by the first request and are refilled after each one', async () => {
    const { made, open } = factory()
    const pool = new SandboxPool({ open, spares: 2, most: 10, reuse: true })
    await turn()
    expect(made).toHaveLength(0)
    await pool.take()
    await turn()
    expect(made).toHaveLength(3)
    await pool.take()
    await turn()
    expect(made).toHaveLength(4)
    await pool.close()
    expect(made.every((box) => box.ended)).toBe(true)
  })

  it('are reused when clean and confirmed, and ended otherwise', async () => {
    const { made, open } = factory()
    const pool = new SandboxPool({ open, spares: 1, most: 2, reuse: true })
    const [one, two] = [await pool.take(), await pool.take()]
    expect([one, two]).toEqual(made)
    pool.give(one, true)
    expect(made[0]?.sent).toEqual([{ type: 'stop' }])
    made[0]?.says('ready')
    expect(await pool.take()).toBe(one)
    pool.give(two, false)
    expect(made[1]?.ended).toBe(true)
    pool.give(one, true)
    await expect.poll(() => made[0]?.ended).toBe(true)
    made[0]?.says('ready')
    expect(await pool.take(), 'who did not answer in time does not come back').not.toBe(one)
    await pool.close()
  })

  it('are limited in number, and later requests wait or cancel', async () => {
    const { made, open } = factory()
    const pool = new SandboxPool({ open, spares: 1, most: 2, reuse: true })
    const taken = [await pool.take(), await pool.take()]
    const leaving = new AbortController()
    const [left, next] = [pool.take({ signal: leaving.signal }).catch(() => 'left'), pool.take()]
    await turn()
    expect(made).toHaveLength(2)
    leaving.abort()
    expect(await left).toBe('left')
    pool.give(taken[0] as SandboxHandle, false)
    expect(await next).toBe(made[2])
    expect(made).toHaveLength(3)
    await pool.close()
  })

  it('are replaced when they die while idle', async () => {
    const { made, open } = factory()
    const pool = new SandboxPool({ open, spares: 1, most: 2, reuse: true })
    await pool.take()
    await turn()
    made[1]?.lost()
    await turn()
    expect(await pool.take()).toBe(made[2])
    await pool.close()
    await expect(pool.take()).rejects.toThrow()
  })
})
