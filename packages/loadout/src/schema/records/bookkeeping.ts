import { z } from 'zod'
import { ownerId, userId } from '../ids.ts'

/** A process that has something under way, and until when others count on it. */
export const processRow = z.strictObject({
  processId: z.string(),
  startedAt: z.date(),
  aliveUntil: z.date(),
})
export type ProcessRow = z.infer<typeof processRow>

/** That somebody went, by a hash of who it was: what is still on its way from before then is written without them. */
export const removedUserRow = z.strictObject({
  removalId: z.string().regex(/^[0-9a-f]{64}$/),
  removedAt: z.date(),
})
export type RemovedUserRow = z.infer<typeof removedUserRow>

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

/** Which process has how many calls of a user under way: in all, or to one toolkit. */
export const concurrencyRow = z.strictObject({
  placesId: z.string(),
  userId,
  /** `user` or `toolkit:<id>`. */
  subject: z.string().min(1).max(300),
  holdersJson: z.record(z.string(), z.number().int().min(1)),
  /** One more with every change: who writes compares it. */
  version: z.number().int().min(1),
  updatedAt: z.date(),
})
export type ConcurrencyRow = z.infer<typeof concurrencyRow>
