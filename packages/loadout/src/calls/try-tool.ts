/**
 * Test run of a tool of an unsaved custom toolkit. The toolkit is inline in one call, which passes the normal pipeline
 * and is logged. The toolkit is not stored and no approval is requested.
 */
import { z } from 'zod'
import type { LogLine } from '../code-mode/executor.ts'
import { HostError } from '../errors.ts'
import { jsonObject, parse } from '../schema/json.ts'
import { readToolkit } from '../schema/read/read-toolkit.ts'
import { createEphemeralToolkit } from '../toolkits/ephemeral-toolkit.ts'
import type { Registry } from '../toolkits/registry.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { ToolkitOwner } from '../toolkits/toolkit-writer.ts'
import type { CallOutcome } from './call.ts'
import type { Calls } from './calls.ts'

export const trialInput = z.strictObject({
  /** A custom toolkit in the format in which it is saved. */
  record: jsonObject,
  tool: z.string().min(1).max(256),
  input: jsonObject.default({}),
  /** Allows this call if it would need approval. */
  allow: z.boolean().default(false),
  /** ID of the user's toolkit that is being edited: `${secret:…}` refers to its secrets. */
  uscoId: z.string().max(200).optional(),
})
export type TrialInput = z.input<typeof trialInput>

export interface Trial {
  callId: string
  outcome: CallOutcome
  /** Redacted log of the code. */
  logs: LogLine[]
  durationMs: number
  /** Warnings about unknown or unsupported parts of the record. */
  warnings: string[]
}

export interface TrialDeps {
  calls: Pick<Calls, 'start'>
  registry: Pick<Registry, 'find' | 'defaults'>
  check(input: unknown, owner: ToolkitOwner): Promise<string[]>
  secrets(owner: { userId: string; toolkit: string }): Promise<Record<string, string>>
}

export interface TrialScope {
  userId: string
  threadId?: string | undefined
  /** Cancels the test run. */
  signal?: AbortSignal | undefined
}

export async function tryTool(deps: TrialDeps, scope: TrialScope, trial: TrialInput): Promise<Trial> {
  const { record, tool, input, allow, uscoId } = parse(trialInput, trial)
  const { userId, threadId, signal } = scope
  const existing = uscoId === undefined ? undefined : await findOwnToolkit(deps, userId, uscoId)
  // Uses the ID that the saved toolkit has.
  const named = { name: 'Tried', ...record, ...(existing ? { id: existing.toolkit.id } : {}) }
  const checkWarnings = await deps.check(named, { tier: 'user', userId })
  const { toolkit, warnings } = readToolkit(named, { defaults: await deps.registry.defaults() })
  if (toolkit.server.type !== 'custom')
    throw new HostError('invalid-input', { detail: 'Only a custom toolkit can be tried without being saved.' })
  const secrets = existing ? await deps.secrets({ userId, toolkit: existing.uscoId }) : {}
  const stored = await createEphemeralToolkit({ ...toolkit, enabled: true }, { userId, secrets })
  let logs: LogLine[] = []
  const started = performance.now()
  const running = deps.calls.start({
    userId,
    threadId,
    signal,
    toolkit: toolkit.id,
    tool,
    arguments: input,
    trial: { allow },
    caller: { type: 'direct' },
    inlineToolkits: new Map([[toolkit.id, stored]]),
    onLogs: (entries) => {
      logs = entries
    },
  })
  const outcome = await running.outcome
  const durationMs = performance.now() - started
  return { callId: running.callId, outcome, logs, durationMs, warnings: [...warnings, ...checkWarnings] }
}

async function findOwnToolkit({ registry }: TrialDeps, userId: string, uscoId: string): Promise<StoredToolkit> {
  const stored = await registry.find(userId, uscoId)
  if (stored.tier !== 'user') throw new HostError('not-found', { detail: 'There is no such toolkit of yours.' })
  return stored
}
