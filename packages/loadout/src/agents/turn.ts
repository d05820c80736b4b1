/**
 * Starts a chat turn: a new user message, or a regeneration of the last answer. A regenerated message is not stored
 * again; a message that was rejected before it was stored is treated as new.
 */
import { HostError } from '../errors.ts'
import type { MessageView, UserPart } from '../schema/records/message.ts'
import type { Messages } from '../threads/messages.ts'

export interface RegenerateRequest {
  /** The answer, or the message that it answers. @default the last one. Unknown ids are ignored. */
  messageId?: string | undefined
}

export interface Turn {
  userId: string
  threadId: string
  messages: Pick<Messages, 'add' | 'list'>
  userParts?: readonly UserPart[] | undefined
  again?: RegenerateRequest | undefined
}

export interface StartedTurn {
  /** Messages for the model; it answers the last. */
  conversation: MessageView[]
  /** Ids of the messages that the answer replaces. */
  instead: readonly string[]
}

/** Maximum messages for the model. */
const MAX_HISTORY = 60

export async function startTurn({ userId, threadId, messages, userParts, again }: Turn): Promise<StartedTurn> {
  const before = (await messages.list(userId, threadId, { limit: MAX_HISTORY })).reverse()
  const repeated = again && lastTurn(before, userParts, again)
  if (repeated) return repeated
  if (!userParts) throw missingMessage(again ? 'there is no answer to ask for again' : 'nothing is said')
  const message = await messages.add(userId, threadId, { role: 'user', parts: [...userParts] })
  return { conversation: [...before, message], instead: [] }
}

/** Whether an answer has text or calls; one that fails at once has only its selection. */
export const isResponse = (parts: ReadonlyArray<{ type: string }>): boolean =>
  parts.some(({ type }) => !type.startsWith('data-') && type !== 'step-start')

function lastTurn(
  before: readonly MessageView[],
  userParts: Turn['userParts'],
  { messageId }: RegenerateRequest,
): StartedTurn | undefined {
  const at = before.findLastIndex(({ role }) => role === 'user')
  const lastUserMessage = before[at]
  if (!lastUserMessage) return undefined
  const index = before.findIndex(({ id }) => id === messageId)
  if (index !== -1 && index < at)
    throw new HostError('invalid-input', {
      detail: 'messageId: only the last answer can be asked for again',
      errors: [{ path: 'messageId', message: 'only the last answer can be asked for again' }],
    })
  if (index === -1 && userParts && textOf(userParts) !== textOf(lastUserMessage.parts)) return undefined
  return { conversation: before.slice(0, at + 1), instead: before.slice(at + 1).map(({ id }) => id) }
}

const textOf = (parts: ReadonlyArray<{ type: string; text?: unknown }>): string =>
  parts.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n')

const missingMessage = (message: string) =>
  new HostError('invalid-input', { detail: `message: ${message}`, errors: [{ path: 'message', message }] })
