/**
 * Enforces time limits from outside, for sandboxes that do not return: an engine checks the clock only now and then,
 * and some of its functions never do. A sandbox gets a grace period to end by itself, so that no logs are lost. CPU
 * time comes from the thread's clock if there is one, so load on the machine is not counted.
 */
import type { ProgramErrorCode, ProgramLimits } from '../executor.ts'
import type { SandboxHandle } from './handle.ts'

export interface Watchdog {
  /** The sandbox got work. */
  busy(): void
  /** The sandbox waits. */
  idle(): void
  stop(): void
}

export interface WatchdogDeps {
  box: SandboxHandle
  limits: ProgramLimits
  /** Reports a reached limit, with the CPU time if it was measured. */
  onTimeout(error: { code: ProgramErrorCode; message: string }, cpuMs?: number): void
}

type Timer = ReturnType<typeof setTimeout>

const MOMENT_MS = 60
const LEAST_MS = 5

export function createWatchdog({ box, limits, onTimeout }: WatchdogDeps): Watchdog {
  const started = performance.now()
  const threadBefore = box.readyMs()
  let since: number | undefined = started
  let passed = 0
  let stopped = false
  let cpuTimer: Timer | undefined
  let wallTimer: Timer | undefined

  const passedMs = () => passed + (since === undefined ? 0 : performance.now() - since)
  const spentMs = async () => {
    // A thread that does not respond is not scheduled, so it used no CPU time; a computing thread always responds.
    const thread = threadBefore === undefined ? undefined : await box.threadMs().catch(() => 0)
    return thread === undefined || threadBefore === undefined ? passedMs() : Math.min(passedMs(), thread - threadBefore)
  }
  const lookAtCpu = async () => {
    cpuTimer = undefined
    if (since === undefined) return
    const spent = await spentMs()
    const left = limits.cpuMs + MOMENT_MS - spent
    if (stopped || since === undefined) return
    const message = `The program computed for longer than ${limits.cpuMs} ms.`
    if (left <= 0) onTimeout({ code: 'cpu-limit', message }, spent)
    else watchCpu(left)
  }
  const watchCpu = (left: number) => {
    cpuTimer ??= setTimeout(() => void lookAtCpu(), Math.max(LEAST_MS, left))
  }
  const lookAtWall = () => {
    const left = limits.wallMs + (since === undefined ? 0 : MOMENT_MS) - (performance.now() - started)
    const message = `The program took longer than ${limits.wallMs} ms.`
    if (left <= 0) onTimeout({ code: 'time-limit', message })
    else wallTimer = setTimeout(lookAtWall, Math.max(1, left))
  }
  wallTimer = setTimeout(lookAtWall, limits.wallMs)
  watchCpu(limits.cpuMs + MOMENT_MS)

  return {
    busy() {
      since ??= performance.now()
      watchCpu(limits.cpuMs + MOMENT_MS - passed)
    },
    idle() {
      passed = passedMs()
      since = undefined
    },
    stop() {
      stopped = true
      clearTimeout(cpuTimer)
      clearTimeout(wallTimer)
    },
  }
}
