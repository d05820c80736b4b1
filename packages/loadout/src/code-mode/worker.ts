/**
 * QuickJS (WebAssembly) executor in a Web Worker, for browsers, with the same guest and limits. Browsers report no CPU
 * time per thread, so CPU time is the time during which a program does not wait.
 */
import type { Executor } from './executor.ts'
import { boundedBinary } from './guest/patch-wasm.ts'
import { executorOf } from './sandbox/executor.ts'
import { SandboxClosedError, type SandboxHandle, type SandboxListener } from './sandbox/handle.ts'
import { DEFAULT_PROGRAM_LIMITS, memoryClass } from './sandbox/limits.ts'
import { SandboxPool } from './sandbox/pool.ts'
import type { FromSandbox } from './sandbox/protocol.ts'

export interface WorkerOptions {
  /** Engine binary `quickjs-wasi/quickjs.wasm`: its bytes or a function that fetches them. With Vite: `… .wasm?url`. */
  wasm: Uint8Array | (() => Promise<Uint8Array | ArrayBuffer>)
  /** Number of idle sandboxes after the first program. @default 1 */
  spares?: number
  /** Max concurrent programs; others wait. @default 8 */
  most?: number
  /** Creates the Web Worker from `@loadout/core/code-mode/worker-guest`, for bundlers that need to see it. */
  open?: () => Worker
}

export interface WorkerStart {
  wasm: Uint8Array
  module: WebAssembly.Module
  stackBytes: number
}

/** Browsers give a thread about 1 MiB of stack, and one engine call needs several times its own stack. */
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
  const module = await WebAssembly.compile(boundedBinary(wasm, memoryClass(DEFAULT_PROGRAM_LIMITS.memoryBytes)))
  return { wasm, module, stackBytes: STACK_BYTES }
}

/** Resolves when the sandbox is ready. */
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
