/**
 * Interface for programs that a model provider runs. Each program is a run of the host, and its calls pass the same
 * pipeline as all others.
 */
import type { ProviderProgram } from '../schema/records/program.ts'
import type { CallOutcome } from './call.ts'
import type { CallScope, NamedCall } from './call-by-name.ts'

export interface ProviderProgramScope {
  userId: string
  threadId?: string | undefined
}

export interface ProviderPrograms {
  /** Makes a call. A call of a program is a step of its run and is made once, however often the response is read. */
  call(place: CallScope, call: NamedCall): Promise<CallOutcome>
  /** Starts and ends runs for the programs in a response. Returns their run IDs in order. */
  follow(scope: ProviderProgramScope, programs: readonly ProviderProgram[]): Promise<string[]>
}
