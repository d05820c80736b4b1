/**
 * Programs in QuickJS (WebAssembly) in a Web Worker, for the browser: the same guest, the same limits. A browser tells nobody
 * what a thread computes, so that computing is counted by the time that passes while a program is not waiting.
 */
import type { Executor } from './executor.ts'
import { boundedBinary } from './guest/patch-wasm.ts'
import { executorOf } from './sandbox/executor.ts'
import { SandboxClosedError, type SandboxHandle, type SandboxListener } from './sandbox/handle.ts'
import { DEFAULT_LIMITS, memoryClass } from './sandbox/limits.ts'
import { SandboxPool } from './sandbox/pool.ts'
import type { FromSandbox } from './sandbox/protocol.ts'

export interface WorkerOptions {
  /** The binary of the engine, `quickjs-wasi/quickjs.wasm`: its bytes, or what fetches them. With Vite: `… .wasm?url`. */
  wasm: Uint8Array | (() => Promise<Uint8Array | ArrayBuffer>)
  /** How many sandboxes wait for a program. @default 1 */
  spares?: number
  /** How many programs run at once; others wait. @default 8 */
  most?: number
  /** Makes the Web Worker, where a bundler wants to see that itself: of the module `@loadout/core/code-mode/worker-guest`. */
  open?: () => Worker
}

export interface WorkerStart {
  wasm: Uint8Array
  module: WebAssembly.Module
  stackBytes: number
}

/** A browser gives a thread about a MiB of stack, and one of the engine's calls takes several times as much of it. */
const STACK_BYTES = 128 * 1024

export function worker({ wasm, spares = 1, most = 8, open = openWorker }: WorkerOptions): Executor {
  let start: Promise<WorkerStart> | undefined
  const openBox = async () => {
    start ??= prepare(wasm)
    return boxOf(open(), await start)
  }
  return executorOf('worker', new SandboxPool({ open: openBox, spares, most, reuse: true }))
}

const openWorker = () =>
  new Worker(new URL('./worker-guest.ts', import.meta.url), { type: 'module', name: 'loadout-program' })

async function prepare(source: WorkerOptions['wasm']): Promise<WorkerStart> {
  const wasm = new Uint8Array(typeof source === 'function' ? await source() : source)
  const module = await WebAssembly.compile(boundedBinary(wasm, memoryClass(DEFAULT_LIMITS.memoryBytes)))
  return { wasm, module, stackBytes: STACK_BYTES }
}

/** Resolves when it is warm. */
function boxOf(thread: Worker, start: WorkerStart): Promise<SandboxHandle> {
  let listener: SandboxListener | undefined
  const box: SandboxHandle = {
    send: (message) => thread.postMessage(message),
    listen(next) {
      listener = next
    },
    threadMs: async () => undefined,
    readyMs: () => undefined,
    hold() {},
    async end() {
      listener = undefined
      thread.terminate()
    },
  }
  return new Promise((resolve, reject) => {
    box.listen({
      message: ({ type }) => {
        if (type === 'ready') resolve(box)
      },
      lost: (why) => reject(new SandboxClosedError(why)),
    })
    thread.addEventListener('message', ({ data }: MessageEvent<FromSandbox>) => listener?.message(data))
    thread.addEventListener('error', () => listener?.lost('The sandbox died.'))
    thread.postMessage(start)
  })
}
