import { z } from 'zod'
import { ownerId } from './ids.ts'

/** A counter of one window: calls of this hour, tokens of this day. */
export const usageRow = z.strictObject({
  usageId: z.string(),
  userId: ownerId,
  /** `user`, `thread:<id>` or `run:<id>`. */
  subject: z.string().min(1).max(300),
  counter: z.enum(['calls', 'tokens', 'errors']),
  windowStart: z.date(),
  value: z.number().int().min(0),
})
export type UsageRow = z.infer<typeof usageRow>
