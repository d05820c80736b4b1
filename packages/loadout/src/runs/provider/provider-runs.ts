/**
 * Programs that a provider runs, as runs of ours. What holds of every run holds of them:
 *
 * - A call is a step, in the log before it is made, and goes through `calls/` like any other.
 * - The same call of the same program is the same step: what completed is answered from the log, also in another process.
 * - What was cut off is made again only where that does no harm (`decide.ts`).
 *
 * A call that must be asked about waits here, as a direct one does: the provider keeps the program, and we cannot put it away.
 */
import type { CallOutcome } from '../../calls/call.ts'
import { failed, isRepeatable } from '../../calls/call.ts'
import { type CallScope, callByName, findTool, type NamedCall } from '../../calls/call-by-name.ts'
import type { ProgramScope, ProviderPrograms } from '../../calls/provider-programs.ts'
import { HostError } from '../../errors.ts'
import { isAlive, type ProcessLease } from '../../processes/heartbeat.ts'
import { newId } from '../../schema/ids.ts'
import { type JsonObject, parse } from '../../schema/json.ts'
import { type ProviderProgram, providerPrograms } from '../../schema/records/program.ts'
import type { StepRow } from '../../schema/records/run.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { Storage, Transaction } from '../../storage/storage.ts'
import { decide } from '../decide.ts'
import { keepable } from '../storable-json.ts'
import {
  addStep,
  endedStep,
  endProgram,
  goesOn,
  headOf,
  keyOf,
  outcomeOfStep,
  type ProgramKey,
  stepIdOf,
} from './provider-rows.ts'

export interface ProviderRunDeps {
  storage: Storage
  presence: ProcessLease
  /** Arguments as they may be kept. */
  show(userId: string, entry: LoadoutEntry, args: JsonObject): JsonObject | Promise<JsonObject>
}

export interface ProviderRuns extends ProviderPrograms {
  /** The run was cancelled: what it calls here is given up. */
  cancel(runId: string): void
}

/** Another process makes the call: so often it is looked whether it is done. */
const LOOK_MS = 200
const TRIES = 5

/** One call of a program, on its way. */
interface Asked {
  place: CallScope
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

type Begun = { step: StepRow; callId: string } | { outcome: CallOutcome } | 'elsewhere'

export function createProviderRuns(parts: ProviderRunDeps): ProviderRuns {
  return new ProgramRuns(parts)
}

class ProgramRuns implements ProviderRuns {
  readonly #parts: ProviderRunDeps
  readonly #active = new Map<string, Active>()

  constructor(parts: ProviderRunDeps) {
    this.#parts = parts
  }

  async call(place: CallScope, { id, ...call }: NamedCall): Promise<CallOutcome> {
    const program = call.caller?.type === 'code' ? call.caller.toolId : undefined
    if (program === undefined || id === undefined) return callByName(place, call)
    const key = { userId: place.userId, threadId: place.threadId, program }
    const stepId = await stepIdOf(key, id)
    const under = this.#active.get(stepId)
    if (under) return under.outcome
    const active: Active = { runId: undefined, controller: new AbortController(), outcome: never }
    this.#active.set(stepId, active)
    active.outcome = this.#once({ place, call, key, stepId }, active)
      .catch((error: unknown) => failed(HostError.from(error)))
      .finally(() => this.#active.delete(stepId))
    return active.outcome
  }

  async follow({ userId, threadId }: ProgramScope, programs: readonly ProviderProgram[]): Promise<string[]> {
    const runs: string[] = []
    for (const told of parse(providerPrograms, programs)) {
      const key = { userId, threadId, program: told.id }
      const stepId = await stepIdOf(key)
      const { runId } = await this.#write(userId, async (tx) => {
        const head = await headOf(tx, { key, stepId }, told)
        await endProgram(tx, head, told)
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
    { place, call, key, stepId }: Pick<Asked, 'place' | 'call' | 'stepId'> & { key: ProgramKey },
    active: Active,
  ): Promise<CallOutcome> {
    const entry = findTool(place.loadout, call.name)
    const ref = entry?.ref ?? call.name
    const asked: Asked = {
      place,
      call,
      stepId,
      key: await keyOf(ref, call.arguments),
      repeatable: !!entry && isRepeatable(entry),
      program: { key, stepId: await stepIdOf(key) },
      request: { ref, arguments: entry ? await this.#parts.show(place.userId, entry, call.arguments) : {} },
    }
    const letGo = await this.#parts.presence.acquire()
    try {
      const begun = await this.#begin(asked)
      if ('outcome' in begun) return begun.outcome
      active.runId = begun.step.runId
      return await this.#make(asked, begun, active.controller.signal)
    } finally {
      letGo()
    }
  }

  /** Its step, or what came of it before; what another process is making is waited for. */
  async #begin(asked: Asked): Promise<Exclude<Begun, 'elsewhere'>> {
    const { signal } = asked.call
    for (;;) {
      signal?.throwIfAborted()
      const begun = await this.#write(asked.place.userId, (tx) => this.#look(tx, asked))
      if (begun !== 'elsewhere') return begun
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  async #look(tx: Transaction, asked: Asked): Promise<Begun> {
    const { program, stepId, key, request, repeatable } = asked
    const { processId } = this.#parts.presence
    const head = await headOf(tx, program)
    const known = await tx.get('steps', stepId)
    if (!known) {
      const row = { stepId, key, requestJson: keepable(request), resultJson: { processId } }
      const step = await addStep(tx, head, row)
      return step ? { step, callId: stepId } : { outcome: failed(await overOf(tx, head)) }
    }
    const decision = decide(known, { seq: known.seq, key, kind: 'call', repeatable })
    if (decision.do === 'drift') return { outcome: failed(new HostError('run-drift', { detail: decision.detail })) }
    if (decision.do === 'replay') return { outcome: outcomeOfStep(known) }
    const held = heldBy(known)
    const isOthers = held.processId !== undefined && held.processId !== processId
    if (isOthers && known.status !== 'outcome-unknown' && (await isAlive(tx, held.processId as string)))
      return 'elsewhere'
    if (decision.do === 'unknown' || !(repeatable || (await wasNeverMade(tx, known)))) {
      await tx.update('steps', stepId, { set: { status: 'outcome-unknown' } })
      return { outcome: failed(new HostError('outcome-unknown')) }
    }
    if (!(await tx.update('runs', head.runId, { set: goesOn(), where: { status: 'running' } })))
      return { outcome: failed(await overOf(tx, head)) }
    await tx.update('steps', stepId, { set: { status: 'started', resultJson: { processId } } })
    return { step: known, callId: newId('call') }
  }

  async #make(
    { place, call, stepId }: Asked,
    { step: { runId, seq }, callId }: { step: StepRow; callId: string },
    cancelled: AbortSignal,
  ): Promise<CallOutcome> {
    const { userId } = place
    const { processId } = this.#parts.presence
    let shown: Promise<unknown> = Promise.resolve()
    const outcome = await callByName(
      { ...place, runId },
      {
        ...call,
        callId,
        signal: call.signal ? AbortSignal.any([call.signal, cancelled]) : cancelled,
        onPending: (approval) => {
          const resultJson = { approvalId: approval.id, until: Date.parse(approval.expiresAt), processId }
          const set = { status: 'paused' as const, resultJson }
          shown = this.#write(userId, (tx) => tx.update('steps', stepId, { set })).catch(() => {})
          call.onPending?.(approval)
        },
      },
    )
    await shown
    await this.#write(userId, async (tx) => {
      await tx.update('steps', stepId, { set: endedStep(seq, outcome) })
      await tx.update('runs', runId, { set: goesOn(), where: { status: 'running' } })
      // It was made: that its end cannot be written does not undo it.
    }).catch(() => {})
    return outcome
  }

  /** Two that begin the same at once meet at a unique key: who comes second finds it there. */
  async #write<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#parts.storage.transaction({ userId }, work)
      } catch (error) {
        if (tries === TRIES || !HostError.is(error) || error.code !== 'conflict') throw error
      }
  }
}

const never = new Promise<CallOutcome>(() => {})

const heldBy = ({ resultJson }: StepRow) => (resultJson ?? {}) as { processId?: string; approvalId?: string }

/** It waited for an answer that was not a yes: nothing left for a server. */
async function wasNeverMade(tx: Transaction, step: StepRow): Promise<boolean> {
  const { approvalId } = heldBy(step)
  if (step.status !== 'paused' || approvalId === undefined) return false
  return (await tx.get('approvals', approvalId))?.status !== 'allowed'
}

async function overOf(tx: Transaction, { runId }: StepRow): Promise<HostError> {
  const run = await tx.get('runs', runId)
  if (run?.status === 'cancelled')
    return new HostError('cancelled', { detail: 'The run of this program was cancelled.' })
  return new HostError('conflict', { detail: `The program is over: run ${runId} is ${run?.status ?? 'gone'}.` })
}
