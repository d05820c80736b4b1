/** Kills hosts in the middle of calls, and asks what the log has of what the server got. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ChainVerdict } from '../audit/chain.ts'
import type { AuditView } from '../schema/audit.ts'
import type { AuditedHostOptions } from './audited-host.ts'

const HOST = fileURLToPath(new URL('./audited-host.ts', import.meta.url))

export interface Shown {
  /** Files that a dead host left. */
  found: number
  verdict: ChainVerdict
  items: AuditView[]
}

function start(options: AuditedHostOptions) {
  const child = spawn(process.execPath, [HOST, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
  return { child, lines: createInterface({ input: child.stdout }) }
}

/** Calls for so long, then `kill -9`. */
export async function callAndKill(options: Omit<AuditedHostOptions, 'do'>, ms: number): Promise<void> {
  const { child, lines } = start({ ...options, do: 'call' })
  await once(lines, 'line')
  await new Promise((resolve) => setTimeout(resolve, ms))
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** A new host ships what is left, and says what is in the log. */
export async function show(options: Omit<AuditedHostOptions, 'do'>): Promise<Shown> {
  const { lines } = start({ ...options, do: 'show' })
  const [line] = (await once(lines, 'line')) as [string]
  return JSON.parse(line)
}

/** The numbers of the calls that the server got. */
export async function received(folder: string): Promise<number[]> {
  // A server that lost its host may still be reading what was sent to it.
  await new Promise((resolve) => setTimeout(resolve, 300))
  const path = join(folder, 'server.log')
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line.slice(line.indexOf(' '))).n)
}

/** Which of them the log has no intent of. */
export function missing(numbers: readonly number[], items: readonly AuditView[]): number[] {
  const intents = items.filter(({ outcome, callId }) => outcome === 'started' && callId !== null)
  const known = new Set(intents.map(({ detail }) => (detail.arguments as { n?: number } | undefined)?.n))
  return numbers.filter((n) => !known.has(n))
}
