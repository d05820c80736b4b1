/**
 * What was said in a thread: the messages of its chat, which go with the thread. A message is written once, and has an end: what
 * is larger than a row should be is cut where that hurts least, and it is said.
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
  /** Ids of what it takes the place of, in the same thread. */
  instead?: readonly string[] | undefined
}

export interface Messages {
  /** `not-found` where the user has no such thread. */
  add(userId: string, threadId: string, message: NewMessage): Promise<MessageView>
  /** The newest first; `after` is the last of the page before. */
  list(userId: string, threadId: string, page?: { after?: string | undefined; limit?: number }): Promise<MessageView[]>
  /** All of a thread, or none. */
  clear(userId: string, threadId: string): Promise<void>
}

/** In one thread. */
const MAX_MESSAGES = 10_000
/** Of one message, as JSON. */
const MAX_MESSAGE_LENGTH = 1_000_000
/** Of one text or result in a message that is too large. */
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
          // An answer has its id from when it began, so what has the last id need not have the last place.
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

/** Of two who say something at once, one has the place, and the other the next. */
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

/** As it is, or with its long texts cut; what even that leaves too large is told instead of kept. */
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
