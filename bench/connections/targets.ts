/** Servers to measure against, each in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type Era = 'legacy' | 'modern'
export type Target =
  | { type: 'stdio'; command: string; args: string[]; era: Era }
  | { type: 'http'; url: string; era: Era; child: ChildProcess }

const path = (file: string) => fileURLToPath(new URL(`../servers/${file}.ts`, import.meta.url))

export function stdioTarget(file: 'lean-stdio' | 'official-stdio', era: Era, serves: string = era): Target {
  return { type: 'stdio', command: process.execPath, args: [path(file), serves], era }
}

export async function httpTarget(
  file: 'lean-http' | 'official-http',
  era: Era,
  form: 'json' | 'sse',
): Promise<Target & { type: 'http' }> {
  const child = spawn(process.execPath, [path(file), era, form], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { type: 'http', url, era, child }
}
