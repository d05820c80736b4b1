/** Programs in QuickJS (WebAssembly), for Node: each in a thread or a process of its own, warm before it comes. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Executor } from './executor.ts'
import { openThread } from './quickjs-thread.ts'
import { executorOf } from './sandbox-executor.ts'
import { DEFAULT_LIMITS, memoryClass } from './sandbox-limits.ts'
import { SandboxPool } from './sandbox-pool.ts'
import { boundedBinary } from './sandbox-wasm.ts'

export interface QuickjsOptions {
  /** How many sandboxes wait for a program. @default 2 */
  spares?: number
  /** How many programs run at once; others wait. @default 32 */
  most?: number
}

export function quickjs({ spares = 2, most = 32 }: QuickjsOptions = {}): Executor {
  const wasm = readFileSync(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm')))
  const module = WebAssembly.compile(boundedBinary(wasm, memoryClass(DEFAULT_LIMITS.memoryBytes)))
  module.catch(() => {})
  const open = async () => openThread({ wasm, module: await module })
  return executorOf('quickjs', new SandboxPool({ open, spares, most, reuse: true }))
}
