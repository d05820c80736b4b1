/** The door for programs that a provider runs. Each is a run of ours, and what it calls goes the one way like any other call. */
import type { ProviderProgram } from '../schema/records/program.ts'
import type { CallOutcome } from './call.ts'
import type { CallScope, NamedCall } from './call-by-name.ts'

export interface ProgramScope {
  userId: string
  threadId?: string | undefined
}

export interface ProviderPrograms {
  /** A call; where a program made it, a step of its run, and made once whatever is read how often. */
  call(place: CallScope, call: NamedCall): Promise<CallOutcome>
  /** What a response tells of programs: they begin and end as runs, whose ids it gives in their order. */
  follow(scope: ProgramScope, programs: readonly ProviderProgram[]): Promise<string[]>
}
