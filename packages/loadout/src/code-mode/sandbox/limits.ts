/** Default program limits and their error messages. */
import type { ProgramLimits } from '../executor.ts'

const MiB = 1024 * 1024

export const DEFAULT_PROGRAM_LIMITS: ProgramLimits = {
  memoryBytes: 64 * MiB,
  cpuMs: 5_000,
  wallMs: 60_000,
  calls: 1_000,
  parallelCalls: 200,
  logBytes: 256 * 1024,
  resultBytes: MiB,
  argumentBytes: 256 * 1024,
  argumentValues: 10_000,
}

export function resolveLimits(overrides: Partial<ProgramLimits> = {}): ProgramLimits {
  const defined = Object.entries(overrides).filter(([, value]) => value !== undefined)
  return { ...DEFAULT_PROGRAM_LIMITS, ...Object.fromEntries(defined) }
}

export const tooManyBytes = ({ argumentBytes }: ProgramLimits) =>
  `The arguments of a call take more than ${argumentBytes} bytes.`
export const tooManyValues = ({ argumentValues }: ProgramLimits) =>
  `The arguments of a call have more than ${argumentValues} values and names.`

/**
 * Factor between the argument limit of one call and that of all pending calls, which are outside the program's memory.
 */
export const MAX_PENDING_ARGUMENTS_FACTOR = 16

/**
 * Memory maximum of an engine. The engine counts its allocations exactly; this covers the rest. Sizes are powers of
 * two, because each needs a compilation.
 */
export function memoryClass(memoryBytes: number): number {
  const wanted = memoryBytes + memoryBytes / 4 + 4 * MiB
  let size = 16 * MiB
  while (size < wanted && size < 2048 * MiB) size *= 2
  return size
}
