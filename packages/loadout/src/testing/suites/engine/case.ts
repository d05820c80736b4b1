/** What cases of engines are made of. */
import type { Engine, RunEnd, RunWork, StepWork } from '../../../runs/engine.ts'
import type { RunRow, StepRow } from '../../../schema/records/run.ts'

export interface EngineProcess {
  engine: Engine
  /** Ends it as a crash does: its runs are left as they are, and others see that it is gone. */
  kill(): Promise<void>
  close(): Promise<void>
}

export interface EngineEnvironment {
  start(options: {
    works: Partial<Record<RunRow['kind'], RunWork>>
    /** Questions that have their answer. */
    resolvedApprovals: ReadonlySet<string>
  }): Promise<EngineProcess>
  close(): Promise<void>
}

export const value = (result: unknown): StepWork => ({ request: 'r', execute: async () => ({ value: result }) })
export const at = (seq: number, key: string, repeatable = false) => ({ seq, key: `${key}#`, kind: 'call', repeatable })
export const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
export const forever = () => new Promise<never>(() => {})
export const done = (output: unknown): RunEnd => ({ status: 'completed', output })
export const START = { userId: 'ann', kind: 'program', input: { a: 1 } } as const

/** Waits until the log of a run has so many steps, however long a write takes. */
export async function logged({ engine }: EngineProcess, runId: string, steps: readonly StepRow['status'][]) {
  for (let attempt = 0; attempt < 500; attempt++) {
    const found = (await engine.get('ann', runId)).steps.map(({ status }) => status)
    if (found.join() === steps.join()) return
    await later(20)
  }
  throw new Error(`the log never had ${steps.join()}`)
}

export type Make = (work: RunWork, resolvedApprovals?: ReadonlySet<string>) => Promise<EngineProcess>
