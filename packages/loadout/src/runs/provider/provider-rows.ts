/**
 * Rows of a program that a provider runs: the run, a first step for the program, and a step per call. Step IDs derive
 * from the provider's IDs, so every process finds the same row. No process of ours executes such a run: it is never
 * taken over and fails after a day without news.
 */

import type { CallOutcome } from '../../calls/call.ts'
import { outcomeFromJson, outcomeToJson } from '../../calls/records/outcome-json.ts'
import { HostError } from '../../errors.ts'
import { canonicalJson, type Json, type JsonObject } from '../../schema/json.ts'
import type { ProviderProgram } from '../../schema/records/program.ts'
import type { RunRow, StepRow } from '../../schema/records/run.ts'
import type { Transaction } from '../../storage/storage.ts'
import type { RunEnd } from '../engine.ts'
import { newRun, runEnd } from '../run-rows.ts'
import { toStorableJson } from '../storable-json.ts'

/** Lease owner of runs that no process of ours executes. */
export const EXTERNAL_OWNER = 'elsewhere'

const QUIET_MS = 24 * 3_600_000
const MAX_CODE_LENGTH = 20_000
const MAX_OUTCOME_LENGTH = 1_000_000
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export interface ProgramKey {
  userId: string
  threadId: string | undefined
  /** The provider's ID of the program. */
  program: string
}

/** Deterministic step ID in the format of our IDs. */
export async function stepIdOf({ userId, threadId, program }: ProgramKey, call?: string): Promise<string> {
  const text = canonicalJson([userId, threadId ?? null, program, call ?? null])
  return `step_${[...(await digest(text))]
    .slice(0, 26)
    .map((byte) => ALPHABET[byte % 32])
    .join('')}`
}

/** Ref and argument hash of a call. */
export async function callKeyOf(ref: string, args: JsonObject): Promise<string> {
  const hash = [...(await digest(canonicalJson(args)))].slice(0, 16)
  return `${ref}#${hash.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

const digest = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))

/** Number of calls so far, stored in the first step. */
const callCount = ({ resultJson }: StepRow) => (resultJson as { calls?: number } | null)?.calls ?? 0

export const extendLease = () => ({ updatedAt: new Date(), leaseUntil: new Date(Date.now() + QUIET_MS) })

/** Returns the first step; creates it with its run if missing. */
export async function ensureHead(
  tx: Transaction,
  { key: { userId, threadId, program }, stepId }: { key: ProgramKey; stepId: string },
  details?: Pick<ProviderProgram, 'provider' | 'code'>,
): Promise<StepRow> {
  const existing = await tx.get('steps', stepId)
  const request = toStorableJson({
    program,
    provider: details?.provider,
    code: details?.code?.slice(0, MAX_CODE_LENGTH),
  })
  if (existing) {
    const isNew = details?.code !== undefined && (existing.requestJson as JsonObject).code === undefined
    return (isNew && (await tx.update('steps', stepId, { set: { requestJson: request } }))) || existing
  }
  const run = newRun({ userId, kind: 'program', threadId, input: request as JsonObject })
  await tx.insert('runs', { ...run, status: 'running', leaseOwner: EXTERNAL_OWNER, ...extendLease() })
  const head: StepRow = {
    stepId,
    userId,
    runId: run.runId,
    seq: 0,
    key: `${program}#`,
    kind: 'program',
    status: 'started',
    requestJson: request,
    resultJson: { calls: 0 },
    startedAt: new Date(),
    endedAt: null,
  }
  await tx.insert('steps', head)
  return head
}

/** Adds the next step; undefined if the run has ended. */
export async function addStep(
  tx: Transaction,
  head: StepRow,
  step: Pick<StepRow, 'stepId' | 'key' | 'requestJson' | 'resultJson'>,
): Promise<StepRow | undefined> {
  // Updating the run row first locks the sequence number.
  const run = await tx.update('runs', head.runId, { set: extendLease(), where: { status: 'running' } })
  if (!run) return undefined
  const seq = callCount((await tx.get('steps', head.stepId)) ?? head) + 1
  await tx.update('steps', head.stepId, { set: { resultJson: { calls: seq } } })
  const { userId, runId } = head
  const row: StepRow = {
    ...step,
    userId,
    runId,
    seq,
    kind: 'call',
    status: 'started',
    startedAt: new Date(),
    endedAt: null,
  }
  await tx.insert('steps', row)
  return row
}

/** Row update of an ended call. */
export function endedStep(seq: number, outcome: CallOutcome): Partial<StepRow> {
  const at = Date.now()
  const isOk = outcome.status === 'ok'
  const outcomeJson = toStorableJson(outcomeToJson(outcome)) as JsonObject
  const isLarge = JSON.stringify(outcomeJson).length > MAX_OUTCOME_LENGTH
  return {
    status: isOk ? 'completed' : 'failed',
    endedAt: new Date(at),
    resultJson: {
      order: seq,
      at,
      result: isOk ? { value: null } : { error: toStorableJson(errorOf(outcome)) },
      ...(isLarge ? {} : { outcome: outcomeJson }),
    },
  }
}

const MAX_MESSAGE_LENGTH = 500

function errorOf(outcome: CallOutcome): JsonObject {
  if ('error' in outcome) return { code: outcome.error.code, message: outcome.error.message }
  const text = outcome.content.map((block) => (block.type === 'text' ? String(block.text) : '')).join('\n')
  return { code: 'tool-error', message: text.slice(0, MAX_MESSAGE_LENGTH) || 'The tool failed.' }
}

/** Replays an ended call; an outcome that is not stored is reported as unknown. */
export function outcomeOfStep({ resultJson }: StepRow): CallOutcome {
  const { outcome, result } = (resultJson ?? {}) as {
    outcome?: JsonObject
    result?: { error?: { code: string; message: string } }
  }
  if (outcome) return outcomeFromJson(outcome)
  const detail = result?.error?.message ?? 'The call was made, and its result was too large to keep.'
  return { status: 'failed', error: new HostError('outcome-unknown', { detail }) }
}

/** Ends the run and its first step; no effect if they ended before. */
export async function endProgram(tx: Transaction, head: StepRow, program: ProviderProgram): Promise<void> {
  if (program.status === 'running') return
  const calls = callCount(head)
  const detail = `The program of the provider failed. ${program.error ?? ''}`.trim()
  const error = new HostError('program-failed', {
    detail,
    action: 'Nothing: the model was told, and may write another.',
  })
  const end: RunEnd =
    program.status === 'completed'
      ? { status: 'completed', output: program.output ?? null, usage: { calls } }
      : { status: 'failed', error, usage: { calls } }
  const where = { status: 'running' as const }
  if (!(await tx.update('runs', head.runId, { set: runEnd(end, undefined), where }))) return
  const result: Json =
    end.status === 'completed' ? { value: null } : { error: { code: error.code, message: error.message } }
  const at = Date.now()
  const set = {
    status: program.status,
    endedAt: new Date(at),
    resultJson: toStorableJson({ calls, order: 0, at, result }),
  }
  await tx.update('steps', head.stepId, { set })
}

/** True if there was no news for a day. */
export const isAbandoned = ({ leaseOwner, leaseUntil }: RunRow) =>
  leaseOwner === EXTERNAL_OWNER && leaseUntil !== null && leaseUntil.getTime() < Date.now()

export const abandonedResult = () => {
  const detail = 'Nothing was heard of the program for a day.'
  return runEnd({ status: 'failed', error: new HostError('program-failed', { detail }) }, undefined)
}
