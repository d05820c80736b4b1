/** What was asked for when a call went well becomes an example of its tool, for the user who asked; loaded tools that are used stay. Behind the call. */
import type { CallAudit } from '../../audit/call-audit.ts'
import type { LoadedTools } from '../../search/loaded-tools.ts'
import type { ToolUsage } from '../../search/usage/tool-usage.ts'
import type { Transaction } from '../../storage/storage.ts'
import { removalIdOf } from '../../users/removals.ts'
import type { CallHandler, CallOutcome, ToolCall } from '../call.ts'

/** As much of a prompt as is looked at; what is kept of it is shorter, so that no secret is cut in two. */
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
        // The answer is not withheld for what would only have made a search better.
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
  // What is not stored has no searches later; what never reached its server was not used.
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

/** The same that a log would show of it: no stored secret of what this user uses, and no key by its form. */
async function withoutSecrets(
  audit: Pick<CallAudit, 'show'>,
  { userId, stored }: Pick<NonNullable<ToolCall['notes']['resolved']>, 'userId' | 'stored'>,
  prompt: string,
): Promise<string> {
  const text = prompt.slice(0, MAX_PROMPT_LENGTH)
  const redacted = await audit.show({ userId, arguments: { text } }, { stored, inputSchema: { type: 'object' } })
  return typeof redacted.text === 'string' ? redacted.text : ''
}

/** Since when a user is gone, as the notes of who went say. */
export async function removedAt(tx: Transaction, userId: string): Promise<Date | undefined> {
  return (await tx.get('removedUsers', await removalIdOf(userId)))?.removedAt
}
