/**
 * Resource limits of one sandbox. The kernel enforces each of them (cgroup, `prlimit`, tmpfs), so no process inside can
 * raise them.
 */

export interface SandboxLimits {
  /** Memory of the whole sandbox in bytes, including its files. Needs cgroups. @default 1 GiB */
  memoryBytes?: number
  /**
   * Memory that each process may reserve, in bytes. Node uses about 540 MB of it, plus as much for each worker.
   * @default 4 GiB, without cgroups 2 GiB
   */
  processBytes?: number
  /** Processes and threads in total. @default 256, without cgroups 64 */
  processes?: number
  /** Largest file in bytes. @default 64 MiB */
  fileBytes?: number
  /**
   * Size of its home and of its /tmp, in bytes each. Both are in memory and are deleted with the sandbox. @default 128
   * MiB
   */
  scratchBytes?: number
  /** @default 1024 */
  openFiles?: number
  /** CPU seconds per process. @default 3600 */
  cpuSeconds?: number
}

const MIB = 1024 * 1024

export const DEFAULT_PROCESS_LIMITS: Required<SandboxLimits> = {
  memoryBytes: 1024 * MIB,
  processBytes: 4096 * MIB,
  processes: 256,
  fileBytes: 64 * MIB,
  scratchBytes: 128 * MIB,
  openFiles: 1024,
  cpuSeconds: 3600,
}

/** Lower limits per process if nothing limits the whole sandbox: enough for Node and two workers. */
const WITHOUT_CGROUP: Pick<Required<SandboxLimits>, 'processBytes' | 'processes'> = {
  processBytes: 2048 * MIB,
  processes: 64,
}

/** The operator's `overrides` always win over the defaults. */
export const limitsFor = (overrides: SandboxLimits, hasCgroup: boolean): Required<SandboxLimits> => ({
  ...DEFAULT_PROCESS_LIMITS,
  ...(hasCgroup ? {} : WITHOUT_CGROUP),
  ...overrides,
})

/** Runtimes reserve far more address space than they use, so that limit is wider than the memory limit. */
const ADDRESS_SPACE = 4

/** Runs inside the sandbox, so that its processes are counted separately. */
export function underLimits(limits: Required<SandboxLimits>, command: readonly string[]): string[] {
  return [
    '/usr/bin/prlimit',
    `--data=${limits.processBytes}`,
    `--as=${limits.processBytes * ADDRESS_SPACE}`,
    `--nproc=${limits.processes}`,
    `--fsize=${limits.fileBytes}`,
    `--nofile=${limits.openFiles}`,
    `--cpu=${limits.cpuSeconds}`,
    '--core=0',
    '--',
    ...command,
  ]
}
