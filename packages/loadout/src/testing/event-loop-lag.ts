import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The longest time that the event loop was held up while the work ran, in milliseconds. */
export async function lagDuring<T>(work: () => Promise<T>): Promise<{ result: T; lagMs: number }> {
  const monitor = monitorEventLoopDelay({ resolution: 10 })
  monitor.enable()
  try {
    const result = await work()
    await new Promise((resolve) => setTimeout(resolve, 30))
    return { result, lagMs: monitor.max / 1e6 }
  } finally {
    monitor.disable()
  }
}

const TICK_MS = 10

/**
 * The longest time that this thread computed without letting its event loop turn, in milliseconds: what it was itself to blame
 * for. On a machine that others keep busy, the lag by the clock is theirs too.
 */
export async function heldDuring<T>(work: () => Promise<T>): Promise<{ result: T; heldMs: number }> {
  let [held, before] = [0, process.threadCpuUsage()]
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    held = Math.max(held, (user + system) / 1000)
  }, TICK_MS)
  try {
    const result = await work()
    return { result, heldMs: held }
  } finally {
    clearInterval(timer)
  }
}
