/**
 * Semaphore for sandboxes with nested programs. Guarantees:
 *
 * - A nested program never waits for slots of its callers: each depth has one slot more, so the deepest program can
 *   always continue.
 * - One owner gets a fair share; waiters of one depth are served in order.
 */
import { FairSemaphore, hasFairShare } from '../../util/fair-semaphore.ts'

export interface SandboxWaiter {
  /** Owner; without one there is no share limit. */
  owner?: string | undefined
  /** Number of programs that wait for this one, directly or indirectly. @default 0 */
  depth?: number | undefined
  signal?: AbortSignal | undefined
}

/** Max depth: a program and the custom tools that call each other below it (`custom/run-custom.ts`). */
export const DEEPEST = 4

export class SandboxSemaphore extends FairSemaphore<SandboxWaiter> {
  constructor(capacity: number) {
    // A nested program belongs to its caller's share.
    const keyOf = ({ owner, depth = 0 }: SandboxWaiter) => (depth > 0 ? undefined : owner)
    super({
      keyOf,
      isFree(request, { total, used }) {
        if (total >= capacity + Math.min(request.depth ?? 0, DEEPEST)) return false
        return keyOf(request) === undefined || hasFairShare(used, capacity - total)
      },
      // Deepest first, because the others wait for it.
      priority: ({ depth = 0 }) => depth,
    })
  }
}
