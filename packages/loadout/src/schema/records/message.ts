/** Chat messages of a thread, in the format of the AI SDK's UI messages: a role and parts. */
import { z } from 'zod'
import { threadId, userId } from '../ids.ts'
import { jsonObject } from '../json.ts'

export const messageRole = z.enum(['user', 'assistant', 'system'])
/** `{ type: 'text', text }`, `{ type: 'dynamic-tool', … }`, `{ type: 'data-…', data }`, … */
const part = z.looseObject({ type: z.string().min(1).max(200) })

export const messageRow = z.strictObject({
  messageId: z.string(),
  userId,
  threadId,
  /** Position in the thread, starting at 0. */
  position: z.number().int().min(0),
  role: messageRole,
  /** `{ parts, metadata? }`. */
  contentJson: jsonObject,
  createdAt: z.date(),
})
export type MessageRow = z.infer<typeof messageRow>

/** Message in the API. */
export const messageView = z.object({
  id: z.string(),
  role: messageRole,
  parts: z.array(part),
  metadata: jsonObject.optional(),
  createdAt: z.iso.datetime(),
})
export type MessageView = z.infer<typeof messageView>

const MAX_PARTS = 50
const MAX_TEXT_LENGTH = 200_000

/** Parts of a user message: text, and files as `data:` URLs. */
export const userParts = z
  .array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string().max(MAX_TEXT_LENGTH) }),
      z.object({
        type: z.literal('file'),
        mediaType: z.string().min(1).max(200),
        filename: z.string().max(300).optional(),
        url: z
          .string()
          .max(8_000_000)
          .regex(/^data:[\w.+-]+\/[\w.+-]+;base64,[A-Za-z0-9+/=]*$/, 'must be a data: URL in base64'),
      }),
    ]),
  )
  .min(1)
  .max(MAX_PARTS)
export type UserPart = z.infer<typeof userParts>[number]

/** A user message: a text, or the message object of the AI SDK's chat. */
export const userMessage = z.union([
  z.string().min(1).max(MAX_TEXT_LENGTH),
  // The id and other fields belong to the client.
  z.looseObject({ role: z.literal('user').optional(), parts: userParts }),
])
