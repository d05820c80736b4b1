/** What is kept of a run's beginning, so that it goes on in any process: the definition itself, and what the call brought. */
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
  /** Of which stored one it is. */
  workflow?: { id: string; version: number } | undefined
  input: Json
  principal: PrincipalInput
  rules?: readonly PolicyRuleInput[] | undefined
  /** How many steps it took over from another run. */
  taken?: number | undefined
  /** Toolkits of the call whose transports the app built, by name: the process that began it has them, and no other. */
  transports?: readonly string[] | undefined
  /** Toolkits of the call, with their secrets: sealed, and gone once the run is over. */
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

/** Toolkits of runs that are not over. */
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
        // Whoever ends it takes them away, and changes its state before.
        const change = {
          set: { inputJson: { ...currentRow.inputJson, toolkits } },
          where: { status: currentRow.status },
        }
        return (await writing.update('runs', row.runId, change)) !== undefined
      },
    }
  })

/** The context of a run that goes on. */
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

/** The run is over: what the call brought is of no use any more, and its secrets least of all. */
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
