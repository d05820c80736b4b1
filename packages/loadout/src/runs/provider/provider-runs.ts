/**
 * Runs for programs that a provider executes, with the guarantees of every run:
 *
 * - A call is a step, logged before it is made, and goes through the call pipeline.
 * - The same call of the same program is the same step: completed calls are replayed from the log, in any process.
 * - An interrupted call is repeated only if that is harmless (`decide.ts`).
 *
 * A call that needs an approval waits in place, as a direct call does, because the provider holds the program.
 */
import type { CallOutcome } from '../../calls/call.ts'
import { failed, isRepeatable } from '../../calls/call.ts'
import { type CallScope, callByName, findTool, type NamedCall } from '../../calls/call-by-name.ts'
import type { ProviderProgramScope, ProviderPrograms } from '../../calls/provider-programs.ts'
import { HostError } from '../../errors.ts'
import { isAlive, type ProcessLease } from '../../processes/heartbeat.ts'
import { newId } from '../../schema/ids.ts'
import { type JsonObject, parse } from '../../schema/json.ts'
import { type ProviderProgram, providerPrograms } from '../../schema/records/program.ts'
import type { StepRow } from '../../schema/records/run.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { Storage, Transaction } from '../../storage/storage.ts'
import { sleep } from '../../util/abort.ts'
import { decideStep } from '../decide.ts'
import { toStorableJson } from '../storable-json.ts'
import {
  addStep,
  callKeyOf,
  endedStep,
  endProgram,
  ensureHead,
  extendLease,
  outcomeOfStep,
  type ProgramKey,
  stepIdOf,
} from './provider-rows.ts'

export interface ProviderRunDeps {
  storage: Storage
  presence: ProcessLease
  /** Redacts arguments for the log. */
  show(userId: string, entry: LoadoutEntry, args: JsonObject): JsonObject | Promise<JsonObject>
}

export interface ProviderRuns extends ProviderPrograms {
  /** Aborts the calls of a cancelled run. */
  cancel(runId: string): void
}

/** Poll interval in ms while another process makes the call. */
const LOOK_MS = 200
const TRIES = 5

/** One call of a provider program. */
interface ProgramCall {
  scope: CallScope
  call: NamedCall
  program: { key: ProgramKey; stepId: string }
  stepId: string
  key: string
  request: JsonObject
  repeatable: boolean
}

interface Active {
  runId: string | undefined
  controller: AbortController
  outcome: Promise<CallOutcome>
}

type StepStart = { step: StepRow; callId: string } | { outcome: CallOutcome } | 'elsewhere'

export function createProviderRuns(deps: ProviderRunDeps): ProviderRuns {
  return new ProgramRuns(deps)
}

class ProgramRuns implements ProviderRuns {
  readonly #deps: ProviderRunDeps
  readonly #active = new Map<string, Active>()

  constructor(deps: ProviderRunDeps) {
    this.#deps = deps
  }

  async call(scope: CallScope, { id, ...call }: NamedCall): Promise<CallOutcome> {
    const program = call.caller?.type === 'code' ? call.caller.toolId : undefined
    if (program === undefined || id === undefined) return callByName(scope, call)
    const key = { userId: scope.userId, threadId: scope.threadId, program }
    const stepId = await stepIdOf(key, id)
    const running = this.#active.get(stepId)
    if (running) return running.outcome
    const active: Active = { runId: undefined, controller: new AbortController(), outcome: never }
    this.#active.set(stepId, active)
    active.outcome = this.#once({ scope, call, key, stepId }, active)
      .catch((error: unknown) => failed(HostError.from(error)))
      .finally(() => this.#active.delete(stepId))
    return active.outcome
  }

  async follow({ userId, threadId }: ProviderProgramScope, programs: readonly ProviderProgram[]): Promise<string[]> {
    const runs: string[] = []
    for (const program of parse(providerPrograms, programs)) {
      const key = { userId, threadId, program: program.id }
      const stepId = await stepIdOf(key)
      const { runId } = await this.#write(userId, async (tx) => {
        const head = await ensureHead(tx, { key, stepId }, program)
        await endProgram(tx, head, program)
        return head
      })
      runs.push(runId)
    }
    return runs
  }

  cancel(runId: string): void {
    for (const active of this.#active.values())
      if (active.runId === runId) active.controller.abort(new HostError('cancelled'))
  }

  async #once(
    { scope, call, key, stepId }: Pick<ProgramCall, 'scope' | 'call' | 'stepId'> & { key: ProgramKey },
    active: Active,
  ): Promise<CallOutcome> {
    const entry = findTool(scope.loadout, call.name)
    const ref = entry?.ref ?? call.name
    const programCall: ProgramCall = {
      scope,
      call,
      stepId,
      key: await callKeyOf(ref, call.arguments),
      repeatable: !!entry && isRepeatable(entry),
      program: { key, stepId: await stepIdOf(key) },
      request: { ref, arguments: entry ? await this.#deps.show(scope.userId, entry, call.arguments) : {} },
    }
    const releaseLease = await this.#deps.presence.acquire()
    try {
      const start = await this.#begin(programCall)
      if ('outcome' in start) return start.outcome
      active.runId = start.step.runId
      return await this.#make(programCall, start, active.controller.signal)
    } finally {
      releaseLease()
    }
  }

  /** Starts the step or returns its outcome; waits while another process makes the call. */
  async #begin(programCall: ProgramCall): Promise<Exclude<StepStart, 'elsewhere'>> {
    const { signal } = programCall.call
    for (;;) {
      signal?.throwIfAborted()
      const start = await this.#write(programCall.scope.userId, (tx) => this.#look(tx, programCall))
      if (start !== 'elsewhere') return start
      await sleep(LOOK_MS, { keepAlive: true })
    }
  }

  async #look(tx: Transaction, programCall: ProgramCall): Promise<StepStart> {
    const { program, stepId, key, request, repeatable } = programCall
    const { processId } = this.#deps.presence
    const head = await ensureHead(tx, program)
    const existing = await tx.get('steps', stepId)
    if (!existing) {
      const row = { stepId, key, requestJson: toStorableJson(request), resultJson: { processId } }
      const step = await addStep(tx, head, row)
      return step ? { step, callId: stepId } : { outcome: failed(await overOf(tx, head)) }
    }
    const decision = decideStep(existing, { seq: existing.seq, key, kind: 'call', repeatable })
    if (decision.do === 'drift') return { outcome: failed(new HostError('run-drift', { detail: decision.detail })) }
    if (decision.do === 'replay') return { outcome: outcomeOfStep(existing) }
    const owner = ownerOf(existing)
    const isOthers = owner.processId !== undefined && owner.processId !== processId
    if (isOthers && existing.status !== 'outcome-unknown' && (await isAlive(tx, owner.processId as string)))
      return 'elsewhere'
    if (decision.do === 'unknown' || !(repeatable || (await wasNeverMade(tx, existing)))) {
      await tx.update('steps', stepId, { set: { status: 'outcome-unknown' } })
      return { outcome: failed(new HostError('outcome-unknown')) }
    }
    if (!(await tx.update('runs', head.runId, { set: extendLease(), where: { status: 'running' } })))
      return { outcome: failed(await overOf(tx, head)) }
    await tx.update('steps', stepId, { set: { status: 'started', resultJson: { processId } } })
    return { step: existing, callId: newId('call') }
  }

  async #make(
    { scope, call, stepId }: ProgramCall,
    { step: { runId, seq }, callId }: { step: StepRow; callId: string },
    cancelled: AbortSignal,
  ): Promise<CallOutcome> {
    const { userId } = scope
    const { processId } = this.#deps.presence
    let pendingWrite: Promise<unknown> = Promise.resolve()
    const outcome = await callByName(
      { ...scope, runId },
      {
        ...call,
        callId,
        signal: call.signal ? AbortSignal.any([call.signal, cancelled]) : cancelled,
        onPending: (approval) => {
          const resultJson = { approvalId: approval.id, until: Date.parse(approval.expiresAt), processId }
          const set = { status: 'paused' as const, resultJson }
          pendingWrite = this.#write(userId, (tx) => tx.update('steps', stepId, { set })).catch(() => {})
          call.onPending?.(approval)
        },
      },
    )
    await pendingWrite
    await this.#write(userId, async (tx) => {
      await tx.update('steps', stepId, { set: endedStep(seq, outcome) })
      await tx.update('runs', runId, { set: extendLease(), where: { status: 'running' } })
      // The call was made; a failed write does not change that.
    }).catch(() => {})
    return outcome
  }

  /** Concurrent starts conflict on a unique key; the second one retries and finds the row. */
  async #write<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#deps.storage.transaction({ userId }, work)
      } catch (error) {
        if (tries === TRIES || !HostError.is(error) || error.code !== 'conflict') throw error
      }
  }
}

const never = new Promise<CallOutcome>(() => {})

const ownerOf = ({ resultJson }: StepRow) => (resultJson ?? {}) as { processId?: string; approvalId?: string }

/** The step waited for an approval that was not granted, so nothing reached a server. */
async function wasNeverMade(tx: Transaction, step: StepRow): Promise<boolean> {
  const { approvalId } = ownerOf(step)
  if (step.status !== 'paused' || approvalId === undefined) return false
  return (await tx.get('approvals', approvalId))?.status !== 'allowed'
}

async function overOf(tx: Transaction, { runId }: StepRow): Promise<HostError> {
  const run = await tx.get('runs', runId)
  if (run?.status === 'cancelled')
    return new HostError('cancelled', { detail: 'The run of this program was cancelled.' })
  return new HostError('conflict', { detail: `The program is over: run ${runId} is ${run?.status ?? 'gone'}.` })
}
