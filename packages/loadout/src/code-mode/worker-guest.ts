/** Entry point of a Web Worker: the first message configures the engine, all others go to the guest. */
import { createGuest } from './guest/guest.ts'
import type { ToSandbox } from './sandbox/protocol.ts'
import type { WorkerStart } from './worker.ts'

/** Minimal worker global; its types differ from those of a page. */
interface WorkerScope {
  postMessage(message: unknown): void
  addEventListener?(type: 'message', listener: (event: MessageEvent) => void): void
}

listen(globalThis as unknown as WorkerScope)

function listen(scope: WorkerScope): void {
  let guest: ReturnType<typeof createGuest> | undefined
  scope.addEventListener?.('message', ({ data }) => {
    if (guest) guest.receive(data as ToSandbox)
    else guest = createGuest({ ...(data as WorkerStart), post: (message) => scope.postMessage(message) })
  })
}
