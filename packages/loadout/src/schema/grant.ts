import { z } from 'zod'
import { threadId, userId } from './ids.ts'

/** An answer remembered at a tier. Void once `fingerprint` is not what it was given for. */
export const grantRow = z.strictObject({
  grantId: z.string(),
  userId,
  threadId: z.union([threadId, z.literal('')]),
  target: z.enum(['tool', 'toolkit']),
  ref: z.string(),
  decision: z.enum(['allow', 'deny']),
  fingerprint: z.string(),
  createdAt: z.date(),
  revokedAt: z.date().nullable(),
})
export type GrantRow = z.infer<typeof grantRow>
