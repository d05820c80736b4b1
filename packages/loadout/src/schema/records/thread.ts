import { z } from 'zod'
import { threadId, userId } from '../ids.ts'
import { jsonObject } from '../json.ts'
import { costLimits } from './preferences.ts'

/** Limits that a thread sets for itself. They narrow what its user may; none of them widens it. */
export const threadLimits = z.strictObject({
  maxToolkits: z.number().int().min(0).max(1000).optional(),
  maxTools: z.number().int().min(0).max(100_000).optional(),
  maxTokens: z.number().int().min(0).max(100_000_000).optional(),
  ...costLimits.shape,
})
export const threadSettings = z.strictObject({
  limits: threadLimits.default({}),
  /** Whether tools that a model finds stay for the thread. @default true */
  keepFound: z.boolean().optional(),
})
export type ThreadSettings = z.infer<typeof threadSettings>

export const threadTitle = z.string().trim().max(300)

export const threadRow = z.strictObject({
  threadId,
  userId,
  title: threadTitle,
  settingsJson: jsonObject,
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type ThreadRow = z.infer<typeof threadRow>

/** What a caller may give for a new one. */
export const threadInput = z.strictObject({
  id: threadId.optional(),
  title: threadTitle.optional(),
  settings: threadSettings.optional(),
})
export const threadPatch = z.strictObject({ title: threadTitle.optional(), settings: threadSettings.optional() })
