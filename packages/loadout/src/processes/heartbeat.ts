/**
 * Process leases. Each process has a row with the time until which it counts as alive, and renews it while a lease is
 * acquired. What a killed process held is free once its row expires; a closed process deletes its row. A process that
 * cannot write its row counts as dead until it can. Clocks must agree to a fraction of the lease.
 */
import { HostError } from '../errors.ts'
import { newId } from '../schema/ids.ts'
import type { Storage, Transaction } from '../storage/storage.ts'

export interface ProcessLease {
  /** ID of this process. */
  readonly processId: string
  /** Resolves once other processes see this process as alive. The returned function releases the lease. */
  acquire(): Promise<() => void>
  /** Deletes the row, so that nothing of this process counts as alive. */
  close(): Promise<void>
}

export interface ProcessLeaseOptions {
  /** Milliseconds without a heartbeat after which a process counts as dead. @default 30_000 */
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
      // If the delete fails, the row expires by itself.
      await storage.transaction(ACCESS, (tx) => tx.delete('processes', processId)).catch(() => false)
    },
  }
}

export async function isAlive(tx: Transaction, processId: string): Promise<boolean> {
  const row = await tx.get('processes', processId)
  return row !== undefined && row.aliveUntil > new Date()
}

/** The timer is `unref`ed, so it does not keep the process alive. */
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
