/**
 * The limits of time, kept from outside, for when the sandbox does not come back to keep them itself: an engine looks at the
 * clock only now and then, and some of its functions never do. A sandbox gets a moment to end by itself, because then
 * nothing of its logs is lost. Computing is counted by the clock of the sandbox's thread where there is one, so that a busy
 * machine takes nothing from a program.
 */
import type { ProgramErrorCode, ProgramLimits } from '../executor.ts'
import type { SandboxHandle } from './handle.ts'

export interface Watchdog {
  /** It was given something to do. */
  busy(): void
  /** It waits. */
  idle(): void
  stop(): void
}

export interface WatchdogDeps {
  box: SandboxHandle
  limits: ProgramLimits
  /** With what it computed, where that was looked at. */
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
    // Who does not answer does not get to run, on a machine that is too busy; who computes does, whatever it computes.
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
