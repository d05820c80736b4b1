import { z } from 'zod'
import { threadId, userId } from './ids.ts'
import { jsonObject } from './json.ts'

export const threadRow = z.strictObject({
  threadId,
  userId,
  title: z.string().max(300),
  settingsJson: jsonObject,
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type ThreadRow = z.infer<typeof threadRow>
