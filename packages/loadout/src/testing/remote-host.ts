/** Hosts in processes of their own (`host-by-lines.ts`), over one database. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { LineCommand } from './host-by-lines.ts'

const HOST = fileURLToPath(new URL('./host-by-lines.ts', import.meta.url))

export const newKey = () => randomBytes(32).toString('base64')

export interface RemoteHost {
  do<T>(command: LineCommand): Promise<T>
  end(): Promise<void>
  /** As a machine that loses its power. */
  kill(): void
}

export async function startHost(url: string, key: string, leaseMs = 30_000): Promise<RemoteHost> {
  const child = spawn(process.execPath, [HOST, url, key, String(leaseMs)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number, (line: { answer?: unknown; error?: string }) => void>()
  const lines = createInterface({ input: child.stdout })
  const ready = once(lines, 'line')
  lines.on('line', (line) => {
    const said = JSON.parse(line)
    waiting.get(said.id)?.(said)
  })
  await ready
  let next = 0
  return {
    do: <T>(command: LineCommand) =>
      new Promise<T>((resolve, reject) => {
        const id = ++next
        waiting.set(id, ({ answer, error }) => (error ? reject(new Error(error)) : resolve(answer as T)))
        child.stdin.write(`${JSON.stringify({ id, ...command })}\n`)
      }),
    kill: () => void child.kill('SIGKILL'),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}
