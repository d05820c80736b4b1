/** What one sandbox may use. Each limit is the kernel's own (cgroup, `prlimit`, tmpfs), so nothing inside can raise it. */

export interface SandboxLimits {
  /** Memory of all of it together in bytes, its files among it. Where there are no cgroups only the next holds. @default 1 GiB */
  memoryBytes?: number
  /** What each process may reserve in bytes. Node takes about 540 MB of this for itself and for each worker. @default 4 GiB, without cgroups 2 GiB */
  processBytes?: number
  /** Processes and threads together. @default 256, without cgroups 64 */
  processes?: number
  /** The largest file in bytes. @default 64 MiB */
  fileBytes?: number
  /** All files of its home, and all of its /tmp, in bytes. They are in memory and go with it. @default 128 MiB */
  scratchBytes?: number
  /** @default 1024 */
  openFiles?: number
  /** Processor time of each process in seconds. @default 3600 */
  cpuSeconds?: number
}

const MIB = 1024 * 1024

export const DEFAULT_LIMITS: Required<SandboxLimits> = {
  memoryBytes: 1024 * MIB,
  processBytes: 4096 * MIB,
  processes: 256,
  fileBytes: 64 * MIB,
  scratchBytes: 128 * MIB,
  openFiles: 1024,
  cpuSeconds: 3600,
}

/** Where nobody counts the whole, each part is smaller: enough for Node and two workers. */
const WITHOUT_CGROUP: Pick<Required<SandboxLimits>, 'processBytes' | 'processes'> = {
  processBytes: 2048 * MIB,
  processes: 64,
}

/** What holds for a sandbox, by whether the kernel keeps an account of it. What the operator says holds in any case. */
export const limitsFor = (overrides: SandboxLimits, hasCgroup: boolean): Required<SandboxLimits> => ({
  ...DEFAULT_LIMITS,
  ...(hasCgroup ? {} : WITHOUT_CGROUP),
  ...overrides,
})

/** Runtimes reserve far more addresses than they use, so the space for them is wider than the memory. */
const ADDRESS_SPACE = 4

/** Goes in front of a command, inside the sandbox: processes are then counted for this sandbox alone. */
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
