/** A storage whose line can be cut: the process that has it lives on, and reaches nothing. */
import { HostError } from '../errors.ts'
import type { Storage } from '../storage/storage.ts'

export interface Breakable {
  storage: Storage
  isBroken: boolean
}

export function breakable(whole: Storage): Breakable {
  const line: Breakable = {
    isBroken: false,
    storage: {
      ...whole,
      name: whole.name,
      transaction: (access, work) =>
        line.isBroken ? Promise.reject(new HostError('storage-unavailable')) : whole.transaction(access, work),
    },
  }
  return line
}
