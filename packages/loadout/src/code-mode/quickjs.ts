/** Programs in QuickJS (WebAssembly), for Node: each in a thread or a process of its own, warm before it comes. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bridge, Executor, ProgramLimits } from './executor.ts'
import { boundedBinary } from './guest/patch-wasm.ts'
import { executorOf } from './sandbox/executor.ts'
import { DEFAULT_LIMITS, memoryClass } from './sandbox/limits.ts'
import { SandboxPool } from './sandbox/pool.ts'
import { createProcesses } from './sandbox/process.ts'
import { openThread } from './sandbox/thread.ts'

export interface QuickjsOptions {
  /**
   * What is around the engine: a thread of this process, that serves one program after another; a process for each program,
   * that may read our own code and nothing else; or that process in bubblewrap (Linux), where there is nothing else.
   * @default 'thread'
   */
  isolation?: 'thread' | 'process' | 'bubblewrap'
  /** How many sandboxes wait for a program. @default 2 */
  spares?: number
  /** How many programs run at once; others wait. @default 32 */
  most?: number
  /** How long a program may take in all: `wallMs` of its limits, where the host says nothing of that. @default 60_000 */
  timeoutMs?: number
}

export function quickjs({ isolation = 'thread', spares = 2, most = 32, timeoutMs }: QuickjsOptions = {}): Executor {
  const limits = timeoutMs === undefined ? {} : { wallMs: timeoutMs }
  const wasmFile = fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))
  if (isolation === 'thread') {
    const pool = new SandboxPool({ open: threadsOf(wasmFile), spares, most, reuse: true })
    return inCallerContext(executorOf('quickjs', pool), limits)
  }
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

/** A sandbox is opened once and serves many: what a program calls belongs to who asked for the program, not for the sandbox. */
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

/** Threads share what is compiled. */
function threadsOf(wasmFile: string) {
  const wasm = readFileSync(wasmFile)
  const module = WebAssembly.compile(boundedBinary(wasm, memoryClass(DEFAULT_LIMITS.memoryBytes)))
  module.catch(() => {})
  return async () => openThread({ wasm, module: await module })
}
