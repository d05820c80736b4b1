/**
 * After a successful call: stores the prompt as a search example for this user and refreshes the tool's last-used time.
 * Does not delay the result.
 */
import type { CallAudit } from '../../audit/call-audit.ts'
import type { LoadedTools } from '../../search/loaded-tools.ts'
import type { ToolUsage } from '../../search/usage/tool-usage.ts'
import type { Transaction } from '../../storage/storage.ts'
import { removalIdOf } from '../../users/removals.ts'
import type { CallHandler, CallOutcome, ToolCall } from '../call.ts'

/** Maximum length of the inspected prompt. The stored text is shorter, so that no secret is cut in two. */
const MAX_PROMPT_LENGTH = 10_000

export interface LearningDeps {
  usage: Pick<ToolUsage, 'note'>
  audit: Pick<CallAudit, 'show'>
  loaded: Pick<LoadedTools, 'touch'>
}

export function withLearning(deps: LearningDeps) {
  return (next: CallHandler): CallHandler =>
    async (call) => {
      const outcome = await next(call)
      try {
        noteUse(deps, call, outcome)
      } catch {
        // A failure here must not affect the result.
      }
      return outcome
    }
}

function noteUse(
  { usage, audit, loaded }: LearningDeps,
  { userId, threadId, prompt, notes }: ToolCall,
  { status }: CallOutcome,
): void {
  const { resolved, reached, isForgotten } = notes
  if (resolved && reached && !isForgotten && threadId !== undefined && status === 'ok')
    loaded.touch({ userId, threadId }, `${resolved.stored.toolkit.id}.${resolved.found.manifest.name}`)
  // Only stored toolkits are searchable, and only calls that reached a server count.
  if (!resolved || !reached || isForgotten || resolved.stored.ephemeral) return
  const { stored, found } = resolved
  usage.note({
    userId,
    uscoId: stored.uscoId,
    tool: found.manifest.name,
    succeeded: status === 'ok',
    at: new Date(),
    prompt: prompt === undefined ? undefined : () => withoutSecrets(audit, resolved, prompt),
  })
}

/** Redacts the prompt like the log: stored secrets and key formats. */
async function withoutSecrets(
  audit: Pick<CallAudit, 'show'>,
  { userId, stored }: Pick<NonNullable<ToolCall['notes']['resolved']>, 'userId' | 'stored'>,
  prompt: string,
): Promise<string> {
  const text = prompt.slice(0, MAX_PROMPT_LENGTH)
  const redacted = await audit.show({ userId, arguments: { text } }, { stored, inputSchema: { type: 'object' } })
  return typeof redacted.text === 'string' ? redacted.text : ''
}

/** Time when a user was removed, if they were. */
export async function removedAt(tx: Transaction, userId: string): Promise<Date | undefined> {
  return (await tx.get('removedUsers', await removalIdOf(userId)))?.removedAt
}
