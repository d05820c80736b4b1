/**
 * Whether processes are alive, as the others see it. One row a process says until when it counts as alive; it is renewed
 * while anything is held, so what a killed process held is free once its row is over, and what a closed one held at once.
 * A process that cannot write its row for that long counts as gone, and counts again as soon as it can. Clocks must agree
 * to a fraction of the lease.
 */
import { HostError } from '../errors.ts'
import { newId } from '../schema/ids.ts'
import type { Storage, Transaction } from '../storage/storage.ts'

export interface ProcessLease {
  /** This process, as others know it. */
  readonly processId: string
  /** Resolves once others see this process as alive; they do until all that was held is let go. */
  acquire(): Promise<() => void>
  /** Lets go of everything: nothing of this process counts from here on. */
  close(): Promise<void>
}

export interface ProcessLeaseOptions {
  /** How long a process that says nothing counts as alive. @default 30_000 */
  leaseMs?: number | undefined
}

const LEASE_MS = 30_000
const BEATS_PER_LEASE = 6
const ACCESS = { caller: 'presence' } as const

export function createProcessLease(storage: Storage, { leaseMs = LEASE_MS }: ProcessLeaseOptions = {}): ProcessLease {
  const processId = newId('process')
  const startedAt = new Date()
  const timer = createTimer(leaseMs / BEATS_PER_LEASE, () => void beat().catch(() => {}))
  let holders = 0
  let until = 0
  let closed = false
  let beating: Promise<void> | undefined

  const write = async () => {
    const aliveUntil = new Date(Date.now() + leaseMs)
    await storage.transaction(ACCESS, async (tx) => {
      const updated = await tx.update('processes', processId, { set: { aliveUntil } })
      if (!updated) await tx.insert('processes', { processId, startedAt, aliveUntil })
    })
    until = aliveUntil.getTime()
  }
  const beat = () => {
    beating ??= write().finally(() => {
      beating = undefined
    })
    return beating
  }
  return {
    processId,
    async acquire() {
      if (closed) throw new HostError('shutting-down')
      let isActive = true
      const release = () => {
        if (isActive && --holders === 0) timer.stop()
        isActive = false
      }
      holders++
      timer.start()
      try {
        if (until - Date.now() < leaseMs / 2) await beat()
        return release
      } catch (error) {
        release()
        throw error
      }
    },
    async close() {
      closed = true
      timer.stop()
      await beating?.catch(() => {})
      if (until === 0) return
      // What cannot be taken away now is over with its lease.
      await storage.transaction(ACCESS, (tx) => tx.delete('processes', processId)).catch(() => false)
    },
  }
}

/** Whether a process counts as alive. */
export async function isAlive(tx: Transaction, processId: string): Promise<boolean> {
  const row = await tx.get('processes', processId)
  return row !== undefined && row.aliveUntil > new Date()
}

/** Ticks between start and stop, and keeps no process from its end. */
function createTimer(everyMs: number, tick: () => void) {
  let timer: ReturnType<typeof setInterval> | undefined
  return {
    start() {
      timer ??= setInterval(tick, everyMs)
      if (typeof timer === 'object' && 'unref' in timer) timer.unref()
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}
