/** One key is one run: the key has its place among those of the user's calls, with the id of the run that is to be. */
import { claim, keyed, newRow } from '../calls/claim-call.ts'
import { newId } from '../schema/ids.ts'
import type { Json } from '../schema/json.ts'
import type { Storage } from '../storage/storage.ts'

export interface RunKey {
  userId: string
  threadId: string | undefined
  idempotencyKey: string
}

/** The id of the run that has this key, whether or not it began yet. */
export async function claimRun(
  storage: Storage,
  { userId, threadId, idempotencyKey }: RunKey,
  asked: Json,
): Promise<string> {
  const runId = newId('run')
  const caller = { type: 'workflow' as const }
  const request = { userId, threadId, runId, toolkit: 'workflow', tool: 'invoke', arguments: { asked }, caller }
  const row = await keyed(newRow(request, { processId: '' }), idempotencyKey, request)
  // It is no call that somebody makes: nothing of it ends with a process.
  const done = { status: 'ok' as const, outcomeJson: { status: 'ok', content: [] }, finishedAt: row.createdAt }
  const before = await claim(storage, { ...row, ...done })
  return before?.runId ?? runId
}
