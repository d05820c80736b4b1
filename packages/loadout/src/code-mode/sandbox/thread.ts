/** Sandbox in a thread of this process: WebAssembly isolates the program, and the thread keeps the event loop free. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { SandboxClosedError, type SandboxHandle, type SandboxListener } from './handle.ts'
import type { FromSandbox } from './protocol.ts'

export interface ThreadData {
  wasm: Uint8Array
  module: WebAssembly.Module
  stackBytes: number
  /** Message counter; the thread sleeps on it with `Atomics.wait`, which wakes twice as fast as an event loop. */
  bell: Int32Array
  /** Messages to and from the host. Deno reads a port synchronously, but not the parent's. */
  port: MessagePort
}

/** Heap of our code in the thread; the program's memory is separate. */
const HEAP_MIB = 128
/** The engine's stack is 0.5 MiB, and one of its calls takes several times as much of the thread's stack. */
const STACK_MIB = 16
export const STACK_BYTES = 512 * 1024

/** Resolves when the sandbox is ready. */
export function openThread(data: Pick<ThreadData, 'wasm' | 'module'>): Promise<SandboxHandle> {
  const bell = new Int32Array(new SharedArrayBuffer(4))
  const { port1: own, port2: port } = new MessageChannel()
  const worker = new Worker(new URL('../guest/thread-entry.ts', import.meta.url), {
    workerData: { ...data, bell, port, stackBytes: STACK_BYTES } satisfies ThreadData,
    transferList: [port],
    env: {},
    argv: [],
    execArgv: [],
    name: 'loadout-program',
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, stackSizeMb: STACK_MIB },
  })
  return new Promise((resolve, reject) => {
    const listener: SandboxListener = {
      message: ({ type }) => {
        if (type === 'ready') resolve(box)
      },
      lost: (why) => reject(new SandboxClosedError(why)),
    }
    const box = boxOf({ worker, bell, port: own }, listener)
  })
}

interface Thread {
  worker: Worker
  bell: Int32Array
  port: MessagePort
}

function boxOf({ worker, bell, port }: Thread, first: SandboxListener): SandboxHandle {
  let listener: SandboxListener | undefined = first
  let ending: Promise<void> | undefined
  const lost = (why: string) => {
    const current = listener
    listener = undefined
    if (!ending) current?.lost(why)
  }
  let readyMs: number | undefined
  port.on('message', (message: FromSandbox) => {
    if (message.type === 'ready') readyMs = message.threadMs
    listener?.message(message)
  })
  worker.on('error', (error) => lost(`The sandbox died: ${(error as NodeJS.ErrnoException).code ?? error.message}`))
  worker.on('exit', () => lost('The sandbox died.'))
  return {
    send(message) {
      port.postMessage(message)
      Atomics.add(bell, 0, 1)
      Atomics.notify(bell, 0)
    },
    listen(next) {
      listener = next
    },
    async threadMs() {
      // Bun asks the thread itself, which does not answer while it computes.
      if (!('cpuUsage' in worker) || process.versions.bun !== undefined) return undefined
      const { user, system } = await worker.cpuUsage()
      return (user + system) / 1000
    },
    readyMs: () => readyMs,
    hold(on) {
      for (const part of [worker, port]) on ? part.ref() : part.unref()
    },
    end() {
      // Keeps the process alive until the thread ended, for callers that await `end`.
      if (!ending) worker.ref()
      ending ??= worker.terminate().then(() => port.close())
      return ending
    },
  }
}
