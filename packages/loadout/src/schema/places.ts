import { z } from 'zod'
import { userId } from './ids.ts'

/** Which process has how many calls of a user under way: in all, or to one toolkit. */
export const placesRow = z.strictObject({
  placesId: z.string(),
  userId,
  /** `user` or `toolkit:<id>`. */
  subject: z.string().min(1).max(300),
  holdersJson: z.record(z.string(), z.number().int().min(1)),
  /** One more with every change: who writes compares it. */
  version: z.number().int().min(1),
  updatedAt: z.date(),
})
export type PlacesRow = z.infer<typeof placesRow>
