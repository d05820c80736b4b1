/** Shared types and helpers of the engine suite. */
import type { Engine, RunEnd, RunWork, StepWork } from '../../../runs/engine.ts'
import type { RunRow, StepRow } from '../../../schema/records/run.ts'

export interface EngineProcess {
  engine: Engine
  /** Ends the process like a crash: its runs stay as they are, and its lease expires. */
  kill(): Promise<void>
  close(): Promise<void>
}

export interface EngineEnvironment {
  start(options: {
    works: Partial<Record<RunRow['kind'], RunWork>>
    /** Answered approval requests. */
    resolvedApprovals: ReadonlySet<string>
  }): Promise<EngineProcess>
  close(): Promise<void>
}

export const stepValue = (result: unknown): StepWork => ({ request: 'r', execute: async () => ({ value: result }) })
export const stepAt = (seq: number, key: string, repeatable = false) => ({
  seq,
  key: `${key}#`,
  kind: 'call',
  repeatable,
})
export const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
export const forever = () => new Promise<never>(() => {})
export const done = (output: unknown): RunEnd => ({ status: 'completed', output })
export const START = { userId: 'ann', kind: 'program', input: { a: 1 } } as const

/** Waits until the log of a run has these step statuses. */
export async function logged({ engine }: EngineProcess, runId: string, steps: readonly StepRow['status'][]) {
  for (let attempt = 0; attempt < 500; attempt++) {
    const found = (await engine.get('ann', runId)).steps.map(({ status }) => status)
    if (found.join() === steps.join()) return
    await later(20)
  }
  throw new Error(`the log never had ${steps.join()}`)
}

export type Make = (work: RunWork, resolvedApprovals?: ReadonlySet<string>) => Promise<EngineProcess>
