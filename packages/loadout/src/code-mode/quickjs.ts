/** QuickJS (WebAssembly) executor for Node: each program runs in a prewarmed thread or process. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { HostError } from '../errors.ts'
import type { Bridge, Executor, ProgramLimits } from './executor.ts'
import { boundedBinary } from './guest/patch-wasm.ts'
import { executorOf } from './sandbox/executor.ts'
import { DEFAULT_PROGRAM_LIMITS, memoryClass } from './sandbox/limits.ts'
import { SandboxPool } from './sandbox/pool.ts'
import { createProcesses } from './sandbox/process.ts'
import { openThread } from './sandbox/thread.ts'

export interface QuickjsOptions {
  /**
   * Isolation of the engine: a thread of this process, reused for many programs; a process per program that can read
   * only our code; or that process in bubblewrap (Linux), which sees nothing of the host. @default 'thread'
   */
  isolation?: 'thread' | 'process' | 'bubblewrap'
  /** Number of idle sandboxes after the first program. @default 2 */
  spares?: number
  /** Max concurrent programs; others wait. @default 32 */
  most?: number
  /** Total time per program in ms: `wallMs`, unless the host sets it. @default 60_000 */
  timeoutMs?: number
}

export function quickjs({ isolation = 'thread', spares = 2, most = 32, timeoutMs }: QuickjsOptions = {}): Executor {
  const limits = timeoutMs === undefined ? {} : { wallMs: timeoutMs }
  const wasmFile = fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))
  if (isolation === 'thread') {
    const pool = new SandboxPool({ open: threadsOf(wasmFile), spares, most, reuse: true })
    return inCallerContext(executorOf('quickjs', pool), limits)
  }
  assertNode(isolation)
  const processes = createProcesses({ bubblewrap: isolation === 'bubblewrap', wasmFile })
  const executor = executorOf('quickjs', new SandboxPool({ open: processes.open, spares, most, reuse: false }))
  return {
    ...inCallerContext(executor, limits),
    async close() {
      await executor.close()
      await processes.close()
    },
  }
}

/** Node's permissions confine the process; Bun and Deno would start it without them. */
function assertNode(isolation: string): void {
  const runtime =
    process.versions.bun === undefined ? (process.versions.deno === undefined ? undefined : 'Deno') : 'Bun'
  if (runtime === undefined) return
  throw new HostError('config-invalid', {
    detail: `\`quickjs({ isolation: '${isolation}' })\` needs Node, and this is ${runtime}.`,
    action: `Use \`isolation: 'thread'\`, or run the host on Node.`,
    errors: [{ path: 'isolation', message: `must be \`thread\` on ${runtime}` }],
  })
}

/** Runs bridge calls in the async context of the caller, because a sandbox is created in another one and reused. */
function inCallerContext(executor: Executor, limits: Partial<ProgramLimits>): Executor {
  return {
    ...executor,
    limits,
    execute(program, bridge, options) {
      const runInCaller = AsyncLocalStorage.snapshot()
      const { owner, depth, functions } = bridge
      const call: Bridge['call'] = (made) => runInCaller(() => bridge.call(made))
      return executor.execute(
        program,
        { owner, depth, functions, call },
        { ...options, limits: { ...limits, ...options?.limits } },
      )
    },
  }
}

/** Threads share one compiled module. */
function threadsOf(wasmFile: string) {
  const wasm = readFileSync(wasmFile)
  const module = WebAssembly.compile(boundedBinary(wasm, memoryClass(DEFAULT_PROGRAM_LIMITS.memoryBytes)))
  module.catch(() => {})
  return async () => openThread({ wasm, module: await module })
}
