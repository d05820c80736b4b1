/** Snapshot stored when a run starts (definition, inline toolkits), so that any process can resume it. */
import type { ExecutionContext } from '../context.ts'
import { createExecutionContext } from '../context.ts'
import type { CredentialStore } from '../credentials/credential-store.ts'
import type { EncryptedCollection } from '../credentials/rotation.ts'
import type { ActiveRun } from '../runs/engine.ts'
import { newId } from '../schema/ids.ts'
import type { Json } from '../schema/json.ts'
import type { PrincipalInput } from '../schema/principal.ts'
import type { Envelope } from '../schema/records/credential.ts'
import type { WorkflowDefinition } from '../schema/records/workflow.ts'
import type { PolicyRuleInput } from '../schema/toolkit/policy.ts'
import type { Storage } from '../storage/storage.ts'

export interface RunSnapshot {
  definition: WorkflowDefinition
  /** The stored workflow and version that the definition comes from. */
  workflow?: { id: string; version: number } | undefined
  input: Json
  principal: PrincipalInput
  rules?: readonly PolicyRuleInput[] | undefined
  /** Number of steps reused from another run. */
  taken?: number | undefined
  /** Names of inline toolkits with app-built transports; only the starting process has those. */
  transports?: readonly string[] | undefined
  /** Inline toolkits with their secrets, encrypted; deleted when the run ends. */
  toolkits?: { field: string; envelope: Envelope } | undefined
}

type Sealer = Pick<CredentialStore, 'seal' | 'unseal'>

const addressOf = (userId: string, field: string) => ({ userId, toolkit: 'runs', field })

export async function sealToolkits(
  credentials: Sealer,
  userId: string,
  toolkits: Record<string, unknown>,
): Promise<RunSnapshot['toolkits']> {
  if (Object.keys(toolkits).length === 0) return undefined
  const field = newId('run')
  return { field, envelope: await credentials.seal(addressOf(userId, field), JSON.stringify(toolkits)) }
}

/** Encrypted inline toolkits of unfinished runs, for key rotation. */
export const encryptedToolkits: EncryptedCollection = async (tx, page) =>
  (await tx.list('runs', { ...page, where: { kind: 'workflow' } })).map((row) => {
    const sealedToolkits = row.inputJson.toolkits as RunSnapshot['toolkits']
    return {
      id: row.runId,
      userId: row.userId,
      sealed: sealedToolkits
        ? { address: addressOf(row.userId, sealedToolkits.field), envelope: sealedToolkits.envelope }
        : undefined,
      write: async (writing, wrapping) => {
        const currentRow = await writing.get('runs', row.runId)
        const currentToolkits = currentRow?.inputJson.toolkits as RunSnapshot['toolkits']
        if (
          !currentRow ||
          !currentToolkits ||
          currentToolkits.envelope.wrappedKey !== sealedToolkits?.envelope.wrappedKey
        )
          return false
        const toolkits = { ...currentToolkits, envelope: { ...currentToolkits.envelope, ...wrapping } }
        // Ending a run changes its status before it deletes the toolkits, so `where` detects that.
        const change = {
          set: { inputJson: { ...currentRow.inputJson, toolkits } },
          where: { status: currentRow.status },
        }
        return (await writing.update('runs', row.runId, change)) !== undefined
      },
    }
  })

/** Restores the execution context of a resumed run. */
export async function restoreContext(
  credentials: Sealer,
  run: ActiveRun,
  snapshot: RunSnapshot,
): Promise<ExecutionContext> {
  const { userId, threadId, runId, workflowVersionId, signal } = run
  const { toolkits: sealed, principal, rules } = snapshot
  const text = sealed ? await credentials.unseal(addressOf(userId, sealed.field), sealed.envelope) : '{}'
  return createExecutionContext({
    principal,
    scope: threadId === undefined ? {} : { threadId },
    toolkits: JSON.parse(text) as Record<string, unknown>,
    ...(rules ? { rules: [...rules] as never } : {}),
    ...(workflowVersionId === undefined ? {} : { workflowVersionId }),
    runId,
    signal,
  })
}

/** Deletes the inline toolkits and their secrets when the run ends. */
export async function forgetToolkits(
  storage: Storage,
  { userId, runId }: { userId: string; runId: string },
): Promise<void> {
  await storage.transaction({ userId }, async (tx) => {
    const row = await tx.get('runs', runId)
    if (row?.kind !== 'workflow' || row.inputJson.toolkits === undefined) return
    const { toolkits: _, ...inputJson } = row.inputJson
    await tx.update('runs', runId, { set: { inputJson } })
  })
}
