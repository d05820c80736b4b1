import { z } from 'zod'

/** A process that has something under way, and until when others count on it. */
export const processRow = z.strictObject({
  processId: z.string(),
  startedAt: z.date(),
  aliveUntil: z.date(),
})
export type ProcessRow = z.infer<typeof processRow>
