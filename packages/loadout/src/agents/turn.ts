/**
 * A turn of a chat: something new is said, or the last answer is asked for again. What is asked again is in the thread already and
 * is not kept twice; what never came to be kept, because it was refused, is said as if it were new.
 */
import { HostError } from '../errors.ts'
import type { MessageView, UserPart } from '../schema/records/message.ts'
import type { Messages } from '../threads/messages.ts'

export interface RegenerateRequest {
  /** The answer, or what it answers; by default the last. Ids that only the client knows tell nothing. */
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
  /** What the model hears; the last is what it answers. */
  conversation: MessageView[]
  /** What the answer takes the place of. */
  instead: readonly string[]
}

/** Of a long conversation the model hears the last messages. */
const MAX_HISTORY = 60

export async function startTurn({ userId, threadId, messages, userParts, again }: Turn): Promise<StartedTurn> {
  const before = (await messages.list(userId, threadId, { limit: MAX_HISTORY })).reverse()
  const repeated = again && lastTurn(before, userParts, again)
  if (repeated) return repeated
  if (!userParts) throw missingMessage(again ? 'there is no answer to ask for again' : 'nothing is said')
  const message = await messages.add(userId, threadId, { role: 'user', parts: [...userParts] })
  return { conversation: [...before, message], instead: [] }
}

/** Whether anything is said or called in an answer: one that fails at once tells only what was selected for it. */
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
