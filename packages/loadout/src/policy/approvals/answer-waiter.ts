/**
 * Waits for approval answers through the storage. A change of the row wakes the waiter, whichever process stored the
 * answer. While the change feed is interrupted, waiters poll.
 */

import type { JsonObject } from '../../schema/json.ts'
import type { Change, Storage } from '../../storage/storage.ts'
import { onAbort } from '../../util/abort.ts'

export type ApprovalAnswer =
  | { status: 'allowed'; arguments?: JsonObject }
  | { status: 'denied' }
  | { status: 'expired' }

export interface Wait {
  userId: string
  id: string
  until: Date
  signal?: AbortSignal | undefined
}

export interface AnswerWaiter {
  /** The answer, or undefined after a timeout or an abort. */
  wait(wait: Wait): Promise<ApprovalAnswer | undefined>
  close(): void
}

const POLL_MS = 1000

export function createAnswerWaiter(
  storage: Storage,
  readAnswer: (userId: string, id: string) => Promise<ApprovalAnswer | undefined>,
): AnswerWaiter {
  const open = new Map<string, { userId: string; settle: (answer: ApprovalAnswer | undefined) => void }>()
  let watching: Promise<() => void> | undefined
  let pollTimer: ReturnType<typeof setInterval> | undefined
  let closed = false

  const check = async (id: string) => {
    const waiter = open.get(id)
    if (!waiter) return
    // A failed read is repeated at the next change or poll.
    const answer = await readAnswer(waiter.userId, id).catch(() => undefined)
    if (answer) waiter.settle(answer)
  }
  const checkAll = () => void Promise.all([...open.keys()].map(check))
  const onChange = (change: Change) => {
    if (change.kind === 'row') {
      if (change.collection === 'approvals') void check(change.id)
      return
    }
    clearInterval(pollTimer)
    if (change.kind === 'lost') pollTimer = setInterval(checkAll, POLL_MS)
    else checkAll()
  }
  const watch = () => {
    watching ??= storage.watch(onChange).catch((error: unknown) => {
      watching = undefined
      throw error
    })
    return watching
  }

  return {
    async wait({ userId, id, until, signal }) {
      await watch()
      return new Promise<ApprovalAnswer | undefined>((resolve) => {
        let stopListening: (() => void) | undefined
        const abandon = () => settle(undefined)
        const timer = setTimeout(abandon, Math.max(0, until.getTime() - Date.now()))
        const settle = (answer: ApprovalAnswer | undefined) => {
          clearTimeout(timer)
          stopListening?.()
          open.delete(id)
          resolve(answer)
        }
        open.set(id, { userId, settle })
        if (closed) abandon()
        else stopListening = onAbort(signal, abandon)
        // The answer may have been stored before the watch started.
        void check(id)
      })
    },
    close() {
      closed = true
      clearInterval(pollTimer)
      for (const { settle } of [...open.values()]) settle(undefined)
      void watching?.then((stop) => stop()).catch(() => {})
    },
  }
}
