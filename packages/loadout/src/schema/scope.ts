import { z } from 'zod'
import { threadId, userId } from './ids.ts'

export const TIERS = ['app', 'user', 'thread', 'call'] as const
export const tier = z.enum(TIERS)
export type Tier = z.infer<typeof tier>

/** An address at a tier. Each level needs the one above it, so a thread never floats free of its user. */
export const scope = z
  .strictObject({
    userId: userId.optional(),
    threadId: threadId.optional(),
    callId: z.string().min(1).max(200).optional(),
  })
  .refine((value) => value.threadId === undefined || value.userId !== undefined, {
    path: ['userId'],
    message: 'is needed where a thread is named',
  })
  .refine((value) => value.callId === undefined || value.userId !== undefined, {
    path: ['userId'],
    message: 'is needed where a call is named',
  })
export type Scope = z.infer<typeof scope>
