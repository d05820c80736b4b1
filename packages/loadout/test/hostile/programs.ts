/**
 * Programs that mean harm, or do it without meaning to, each with what must come of it. They are run within
 * `HOSTILE_LIMITS`, with the bridge of `hostile-run.ts`. A value that is expected is one that only a program that is shut in
 * can return: it asks for what the host has, and must find nothing.
 */
import type { ProgramLimits } from '../../src/code-mode/executor.ts'
import { CPU_PROGRAMS } from './cpu.ts'
import { ESCAPE_PROGRAMS } from './escape.ts'
import { FLOOD_PROGRAMS } from './floods.ts'
import { MEMORY_PROGRAMS } from './memory.ts'
import type { Ending, Hostile } from './program.ts'
import { REACH_PROGRAMS } from './reach.ts'
import { TAMPER_PROGRAMS } from './tamper.ts'

export interface HostileProgram {
  name: string
  source: string
  ending: Ending
}

export const HOSTILE_LIMITS: ProgramLimits = {
  memoryBytes: 16 * 1024 * 1024,
  cpuMs: 60,
  wallMs: 10_000,
  calls: 50,
  parallelCalls: 20,
  logBytes: 8 * 1024,
  resultBytes: 64 * 1024,
  argumentBytes: 64 * 1024,
  argumentValues: 12_000,
}

const GROUPS: Record<string, readonly Hostile[]> = {
  ...ESCAPE_PROGRAMS,
  ...TAMPER_PROGRAMS,
  ...MEMORY_PROGRAMS,
  ...CPU_PROGRAMS,
  ...FLOOD_PROGRAMS,
  ...REACH_PROGRAMS,
}

export const HOSTILE_PROGRAMS: readonly HostileProgram[] = Object.entries(GROUPS).flatMap(([group, programs]) =>
  programs.map(([source, ending], index) => ({ name: `${group} ${index + 1}: ${firstLine(source)}`, source, ending })),
)

/** One program of each kind, one that calls a tool where there is one: for executors beside the one that runs them all. */
export const HOSTILE_SAMPLE: readonly HostileProgram[] = Object.keys(GROUPS).map((group) => {
  const kind = HOSTILE_PROGRAMS.filter(({ name }) => name.startsWith(`${group} `))
  return (kind.find(({ source }) => source.includes('kit.')) ?? kind[0]) as HostileProgram
})

function firstLine(source: string): string {
  return source.replace(/\s+/g, ' ').trim().slice(0, 80)
}
