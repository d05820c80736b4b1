/** Where a thread begins. */
import { parentPort, workerData } from 'node:worker_threads'
import { createGuest } from './guest.ts'
import type { ThreadData } from './quickjs-thread.ts'
import type { ToSandbox } from './sandbox-protocol.ts'

const port = parentPort
if (port) {
  const guest = createGuest({
    ...(workerData as ThreadData),
    post: (message) => port.postMessage(message),
    threadMs: 'threadCpuUsage' in process ? threadMs : undefined,
  })
  port.on('message', (message: ToSandbox) => guest.receive(message))
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
