/** Output parts of a run, stored as rows of its step log: one row holds the parts of one write. */
import { z } from 'zod'
import { type JsonObject, jsonObject } from '../schema/json.ts'
import type { RunRow, StepRow } from '../schema/records/run.ts'
import type { RunPart } from './engine.ts'
import { toStorableJson } from './storable-json.ts'

export const PARTS = 'parts'

const stored = z.object({ first: z.number(), parts: z.array(jsonObject), discards: z.number().optional() })

export const isPartsRow = ({ kind }: Pick<StepRow, 'kind'>) => kind === PARTS

export interface NewParts {
  /** Number of the first part. */
  first: number
  parts: readonly JsonObject[]
  discards?: number | undefined
}

/** IDs sort by sequence number, so that readers page by them. */
export const partsId = (runId: string, seq: number) => `${runId}.${String(seq).padStart(9, '0')}`

export function partsRow({ userId, runId }: Pick<RunRow, 'userId' | 'runId'>, seq: number, parts: NewParts): StepRow {
  const now = new Date()
  return {
    stepId: partsId(runId, seq),
    userId,
    runId,
    seq,
    key: `${PARTS} ${seq}`,
    kind: PARTS,
    status: 'completed',
    requestJson: null,
    resultJson: toStorableJson(parts),
    startedAt: now,
    endedAt: now,
  }
}

export function partsOf({ resultJson }: StepRow): RunPart[] {
  const { first, parts, discards } = stored.parse(resultJson)
  return parts.map((part, index) => ({
    number: first + index,
    part,
    ...(discards === undefined || index > 0 ? {} : { discards }),
  }))
}

/** Parts of one row as they are stored. */
export const storedParts = (parts: readonly RunPart[]): NewParts => ({
  first: parts[0]?.number ?? 0,
  parts: parts.map(({ part }) => part),
  ...(parts[0]?.discards === undefined ? {} : { discards: parts[0].discards }),
})
