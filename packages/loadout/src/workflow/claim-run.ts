/** One key is one run: the key has its place among those of the user's calls, with the id of the run that is to be. */
import { claim, keyed, newRow } from '../calls/claim-call.ts'
import type { CallRow } from '../schema/call.ts'
import { newId } from '../schema/ids.ts'
import type { Json } from '../schema/json.ts'
import type { Storage } from '../storage/storage.ts'

export interface RunKey {
  userId: string
  threadId: string | undefined
  idempotencyKey: string
}

/** The id of the run that has this key, whether or not it began yet. */
export async function claimRun(storage: Storage, key: RunKey, asked: unknown): Promise<string> {
  const row = await rowOf(key, asked)
  const before = await claim(storage, row)
  return before?.runId ?? (row.runId as string)
}

/** The same, where it was claimed before. */
export async function claimedRun(storage: Storage, key: RunKey, asked: unknown): Promise<string | undefined> {
  const where = { userId: key.userId, dedupeKey: key.idempotencyKey }
  const [row] = await storage.transaction({ userId: key.userId }, (tx) => tx.list('calls', { where }))
  return row && row.expiresAt > new Date() ? claimRun(storage, key, asked) : undefined
}

async function rowOf({ userId, threadId, idempotencyKey }: RunKey, asked: unknown): Promise<CallRow> {
  const caller = { type: 'workflow' as const }
  // What was asked, and not what that means today: a workflow changes, and who asks may come by another way.
  const args = { asked: JSON.parse(JSON.stringify(asked)) as Json }
  const runId = newId('run')
  const request = { userId, threadId, runId, toolkit: 'workflow', tool: 'invoke', arguments: args, caller }
  const row = await keyed(newRow(request, { processId: '' }), idempotencyKey, request)
  // It is no call that somebody makes: nothing of it ends with a process.
  return { ...row, status: 'ok', outcomeJson: { status: 'ok', content: [] }, finishedAt: row.createdAt }
}
