import { z } from 'zod'
import { ownerId, userId } from '../ids.ts'

/** A process with work in progress, and the time until which its lease is valid. */
export const processRow = z.strictObject({
  processId: z.string(),
  startedAt: z.date(),
  aliveUntil: z.date(),
})
export type ProcessRow = z.infer<typeof processRow>

/**
 * Tombstone of a removed user, keyed by a hash of the id. Work that is still in flight is written without that user.
 */
export const removedUserRow = z.strictObject({
  removalId: z.string().regex(/^[0-9a-f]{64}$/),
  removedAt: z.date(),
})
export type RemovedUserRow = z.infer<typeof removedUserRow>

/** Usage counter of one window: calls per hour or tokens per day. */
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

/** Calls in flight by process for a user: in total, or to one toolkit. */
export const concurrencyRow = z.strictObject({
  placesId: z.string(),
  userId,
  /** `user` or `toolkit:<id>`. */
  subject: z.string().min(1).max(300),
  holdersJson: z.record(z.string(), z.number().int().min(1)),
  /** Incremented with every change, for compare-and-set. */
  version: z.number().int().min(1),
  updatedAt: z.date(),
})
export type ConcurrencyRow = z.infer<typeof concurrencyRow>
