import type { ProgramErrorCode } from '../../src/code-mode/executor.ts'

/** What must come of a program: one of these errors, or this value. */
export type Ending = ProgramErrorCode | readonly ProgramErrorCode[] | { value: unknown }

/** Its source, and what must come of it. */
export type Hostile = readonly [source: string, ending: Ending]
