/** Runs: the engine, what programs do in it, and what wakes them. */

import type { Stage } from './calls/compose.ts'
import type { OwnTool } from './calls/own-tools.ts'
import { keptFor, type OfferOptions, offerPrograms } from './code-mode/offer-programs.ts'
import { createProgramWork, type ProgramParts, type ProgramScope, startProgram } from './code-mode/programs.ts'
import { answerRunCode, RUN_CODE } from './code-mode/run-code.ts'
import { notAround } from './context.ts'
import { HostError } from './errors.ts'
import type { Emitter } from './events.ts'
import type { HostOptions } from './host-options.ts'
import type { Approvals } from './policy/approvals.ts'
import type { Presence } from './policy/presence.ts'
import { createEmbeddedEngine } from './runs/embedded.ts'
import type { Engine, RunWork } from './runs/engine.ts'
import { createProviderRuns, type ProviderRuns } from './runs/provider-runs.ts'
import type { RunView } from './schema/run.ts'
import type { SelectionData } from './schema/selection.ts'
import type { Storage } from './storage/storage.ts'
import { forgetToolkits } from './workflow/kept-run.ts'
import { progressOf } from './workflow/node-states.ts'

export interface RunParts extends Omit<ProgramParts, 'executor' | 'limits'> {
  storage: Storage
  presence: Presence
  events: Emitter
  approvals: Approvals
  /** For what a program gives a model. */
  large: Stage
  /** What runs of workflows do. */
  workflow: RunWork
  /** Lets go of what one of them was given in this process. */
  letGo(runId: string): void
}

/** Runs, as an app and a server see them. */
export type Runs = Pick<Engine, 'get' | 'list' | 'settled' | 'cancel' | 'resolve'>

export interface HostRuns {
  engine: Engine
  /** `run_code`, where the host runs programs. */
  own: OwnTool[]
  /** A program of a thread, until it is over or stands. */
  run(scope: ProgramScope, given: unknown, options?: RunOptions): Promise<RunView>
  /** Programs in a selection. */
  offer(selection: SelectionData, options: OfferOptions): SelectionData
  /** Programs that providers run. */
  programs: ProviderRuns
  stop(): void
  /** With what runs programs: it is the host's. */
  close(): Promise<void>
}

export interface RunOptions {
  /** Ends the wait, not the run. */
  signal?: AbortSignal | undefined
  /** Whether to wait until it is over or stands. @default true */
  wait?: boolean | undefined
}

export function createRuns(parts: RunParts, options: HostOptions): HostRuns {
  const { executor, programs, processLeaseMs, around = notAround } = options
  const { storage, presence, approvals, events, loadouts } = parts
  const provided = createProviderRuns({
    storage,
    presence,
    show: (userId, { manifest: { inputSchema } }, args) =>
      parts.audit.show({ userId, arguments: args }, { inputSchema }),
  })
  const limits = { ...executor?.limits, ...programs?.limits }
  const program = executor && createProgramWork({ ...parts, executor, limits })
  const engine = createEmbeddedEngine({
    storage,
    presence,
    progressOf,
    works: {
      workflow: parts.workflow,
      // It has no context, nor that of somebody else whose end made room for it.
      ...(program ? { program: (run) => around(undefined, () => program(run)) } : {}),
    },
    async isAnswered(userId, ids) {
      for (const id of ids) if ((await approvals.get(userId, id)).status !== 'pending') return true
      return false
    },
    onOver: async (userId, runId) => {
      provided.cancel(runId)
      parts.letGo(runId)
      await approvals.withdraw(userId, runId)
      await forgetToolkits(storage, { userId, runId })
    },
    // What a process left is free with its lease; looked for not much later.
    lookMs: Math.min(10_000, processLeaseMs ?? 10_000),
  })
  const stop = events.on('approval-answered', ({ userId, runId }) => {
    if (runId !== undefined) void engine.wake(userId, runId).catch(() => {})
  })
  const run = async (scope: ProgramScope, given: unknown, options: RunOptions & { isInside?: boolean } = {}) => {
    if (!executor) throw noExecutor()
    const { signal, wait = true, isInside } = options
    const started = await startProgram({ engine, loadouts }, { ...scope, isInside }, given)
    return wait ? engine.settled(scope.userId, started.id, { signal }) : started
  }
  const close = async () => {
    await engine.close()
    await executor?.close()
  }
  const answer = answerRunCode({ engine, run })
  const own = executor ? [{ manifest: RUN_CODE, answer, stages: [parts.large] }] : []
  const offer: HostRuns['offer'] = (selection, options) =>
    executor
      ? offerPrograms(selection, options)
      : { ...keptFor(selection, options.callers), warnings: [...selection.warnings, NO_PROGRAMS] }
  return { engine, run, offer, programs: provided, stop, close, own }
}

const NO_PROGRAMS = 'This host runs no programs: it has no executor.'

const noExecutor = () =>
  new HostError('function-missing', {
    detail: 'This host runs no programs.',
    action: 'Give it an executor: createHost({ executor: quickjs() }).',
  })
