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
