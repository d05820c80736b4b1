/**
 * Stores the chat messages of a thread, which are deleted with it. A message is written once. A message that is too
 * large for a row is cut, and the cut is marked in its text.
 */
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { newId } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { MessageRow, MessageView } from '../schema/records/message.ts'
import type { Storage } from '../storage/storage.ts'

export interface NewMessage {
  id?: string | undefined
  role: MessageRow['role']
  parts: readonly JsonObject[]
  metadata?: JsonObject | undefined
  /** IDs of messages in the same thread that this message replaces. */
  instead?: readonly string[] | undefined
}

export interface Messages {
  /** `not-found` if the user has no such thread. */
  add(userId: string, threadId: string, message: NewMessage): Promise<MessageView>
  /** Newest first; `after` is the last message of the previous page. */
  list(userId: string, threadId: string, page?: { after?: string | undefined; limit?: number }): Promise<MessageView[]>
  /** Deletes all messages of a thread. */
  clear(userId: string, threadId: string): Promise<void>
}

/** Messages per thread. */
const MAX_MESSAGES = 10_000
/** Characters per message, as JSON. */
const MAX_MESSAGE_LENGTH = 1_000_000
/** Characters per text or result in a message that is too large. */
const MAX_PART_LENGTH = 20_000
const PAGE = 500

export function createMessages({ storage, events }: { storage: Storage; events: Emitter }): Messages {
  const emitChanged = (userId: string, threadId: string) => events.emit({ type: 'thread-changed', userId, threadId })
  return {
    async add(userId, threadId, { id = newId('message'), role, parts, metadata, instead = [] }) {
      const contentJson = fitting({ parts, ...(metadata === undefined ? {} : { metadata }) })
      const about = { messageId: id, userId, threadId, role, contentJson }
      const row = await retryOnConflict((tried) =>
        storage.transaction({ userId }, async (tx) => {
          if (!(await tx.get('threads', threadId))) throw noThread(threadId)
          for (const old of instead)
            if ((await tx.get('messages', old))?.threadId === threadId) await tx.delete('messages', old)
          const [last] = await tx.list('messages', { where: { userId, threadId }, order: 'desc', limit: 1 })
          // A response gets its ID when it starts, so the last ID does not imply the last position.
          const position = (last ? last.position + 1 : 0) + tried
          if (position >= MAX_MESSAGES) throw full(threadId)
          const whole: MessageRow = { ...about, position, createdAt: new Date() }
          await tx.insert('messages', whole)
          await tx.update('threads', threadId, { set: { updatedAt: whole.createdAt } })
          return whole
        }),
      )
      emitChanged(userId, threadId)
      return viewOf(row)
    },
    async list(userId, threadId, { after, limit = 100 } = {}) {
      const page = {
        where: { userId, threadId },
        order: 'desc' as const,
        limit,
        ...(after === undefined ? {} : { after }),
      }
      return storage.transaction({ userId }, async (tx) => {
        if (!(await tx.get('threads', threadId))) throw noThread(threadId)
        return (await tx.list('messages', page)).map(viewOf)
      })
    },
    async clear(userId, threadId) {
      for (let count = PAGE; count === PAGE; )
        count = await storage.transaction({ userId }, async (tx) => {
          if (!(await tx.get('threads', threadId))) throw noThread(threadId)
          const rows = await tx.list('messages', { where: { userId, threadId }, limit: PAGE })
          for (const row of rows) await tx.delete('messages', row.messageId)
          return rows.length
        })
      emitChanged(userId, threadId)
    },
  }
}

const TRIES = 50

/** Retries with the next position when another message took this one. */
async function retryOnConflict(add: (tried: number) => Promise<MessageRow>): Promise<MessageRow> {
  for (let tried = 0; ; tried++)
    try {
      return await add(tried)
    } catch (error) {
      if (tried >= TRIES || !HostError.is(error) || error.code !== 'conflict') throw error
    }
}

const viewOf = ({ messageId: id, role, contentJson, createdAt }: MessageRow): MessageView => {
  const { parts, metadata } = contentJson as { parts: MessageView['parts']; metadata?: JsonObject }
  return { id, role, parts, ...(metadata ? { metadata } : {}), createdAt: createdAt.toISOString() }
}

/** Returns the content, with long texts cut if needed, or a placeholder if it is still too large. */
function fitting(content: { parts: readonly JsonObject[]; metadata?: JsonObject }): JsonObject {
  const whole = JSON.stringify(content)
  if (whole.length <= MAX_MESSAGE_LENGTH) return JSON.parse(whole) as JsonObject
  const shorter = JSON.stringify(content, (_, value: unknown) =>
    typeof value === 'string' && value.length > MAX_PART_LENGTH ? `${value.slice(0, MAX_PART_LENGTH)} … (cut)` : value,
  )
  if (shorter.length <= MAX_MESSAGE_LENGTH) return JSON.parse(shorter) as JsonObject
  return { parts: [{ type: 'text', text: '(This message was too large to be kept.)' }] }
}

const noThread = (id: string) =>
  new HostError('not-found', { detail: `There is no thread "${id.slice(0, 80)}" of yours.` })
const full = (id: string) =>
  new HostError('limit-reached', {
    detail: `The thread "${id.slice(0, 80)}" has ${MAX_MESSAGES} messages, which is the most.`,
    action: 'Go on in a new thread, or clear this one.',
  })
