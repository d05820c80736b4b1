/** Starts one of Loadout's programs as a user would, and collects its output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { programPath, ROOT } from './program-path.ts'

export { ROOT }

export interface Program {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** Waits for a line of stdout. */
  says(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string>
  end(signal?: NodeJS.Signals): Promise<number | string>
}

/** Starts the bundle of a program, or the source file where no run has made one. */
export function start([program = '', ...args]: string[], env: Record<string, string> = {}): Program {
  return startSource([programPath(program), ...args], env)
}

/** Starts a file of the source tree itself. */
export function startSource(args: string[], env: Record<string, string> = {}): Program {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', (data) => {
    output.out += data
  })
  child.stderr.on('data', (data) => {
    output.err += data
  })
  const ended = once(child, 'close').then(([code, signal]) => (code as number | null) ?? (signal as string))

  async function says(pattern: RegExp, withinMs = 60_000): Promise<RegExpExecArray> {
    const deadline = AbortSignal.timeout(withinMs)
    for (;;) {
      const match = pattern.exec(output.out)
      if (match) return match
      if (child.exitCode !== null || deadline.aborted)
        throw new Error(`It did not say ${pattern}: ${output.out} ${output.err}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  return {
    child,
    stdout: () => output.out,
    stderr: () => output.err,
    says,
    ended,
    end(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}
