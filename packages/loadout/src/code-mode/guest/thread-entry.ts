/** Entry point of a sandbox thread: blocks on `bell` and passes messages to the guest. */
import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { ToSandbox } from '../sandbox/protocol.ts'
import type { ThreadData } from '../sandbox/thread.ts'
import { createGuest } from './guest.ts'

const { port, bell, ...data } = workerData as ThreadData
const guest = createGuest({
  ...data,
  post: (message) => port.postMessage(message),
  threadMs: 'threadCpuUsage' in process ? threadMs : undefined,
})
for (let count = 0; ; count = Atomics.load(bell, 0)) {
  for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port))
    guest.receive(received.message as ToSandbox)
  Atomics.wait(bell, 0, count)
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
