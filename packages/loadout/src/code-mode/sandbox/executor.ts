/** Executor over a pool of sandboxes, shared by all drivers. */
import { HostError } from '../../errors.ts'
import type { Execution, Executor, ProgramErrorCode } from '../executor.ts'
import { SandboxClosedError } from './handle.ts'
import { resolveLimits } from './limits.ts'
import type { SandboxPool } from './pool.ts'
import { SandboxSession } from './session.ts'

export function executorOf(name: string, pool: SandboxPool): Executor {
  const running = new Set<SandboxSession>()
  return {
    name,
    async execute(program, bridge, { limits, signal } = {}) {
      if (signal?.aborted) return unrun('cancelled', 'The program was cancelled.')
      try {
        const box = await pool.take({ owner: bridge.owner, depth: bridge.depth, signal })
        const session = new SandboxSession({ box, program, bridge, limits: resolveLimits(limits), signal })
        running.add(session)
        const { execution, clean } = await session.outcome
        running.delete(session)
        pool.give(box, clean)
        return execution
      } catch (error) {
        if (signal?.aborted) return unrun('cancelled', 'The program was cancelled.')
        return unrun(
          'sandbox-lost',
          HostError.is(error) || error instanceof SandboxClosedError ? error.message : 'No sandbox could be opened.',
        )
      }
    },
    async close() {
      for (const session of running) session.cancel()
      await pool.close()
    },
  }
}

const unrun = (code: ProgramErrorCode, message: string): Execution => ({
  status: 'failed',
  error: { code, message },
  logs: [],
  usage: { calls: 0, cpuMs: 0, wallMs: 0 },
})
