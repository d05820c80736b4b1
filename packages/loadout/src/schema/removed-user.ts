import { z } from 'zod'

/** That somebody went, by a hash of who it was: what is still on its way from before then is written without them. */
export const removedUserRow = z.strictObject({
  removalId: z.string().regex(/^[0-9a-f]{64}$/),
  removedAt: z.date(),
})
export type RemovedUserRow = z.infer<typeof removedUserRow>
