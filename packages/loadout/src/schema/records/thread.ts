import { z } from 'zod'
import { threadId, userId } from '../ids.ts'
import { jsonObject } from '../json.ts'
import { costLimits } from './preferences.ts'

/** Limits of one thread. They can only tighten the limits of its user. */
export const threadLimits = z.strictObject({
  maxToolkits: z.number().int().min(0).max(1000).optional(),
  maxTools: z.number().int().min(0).max(100_000).optional(),
  maxTokens: z.number().int().min(0).max(100_000_000).optional(),
  ...costLimits.shape,
})
export const threadSettings = z.strictObject({
  limits: threadLimits.default({}),
  /** Whether tools that a model finds stay loaded in the thread. @default true */
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

export const threadInput = z.strictObject({
  id: threadId.optional(),
  title: threadTitle.optional(),
  settings: threadSettings.optional(),
})
export const threadPatch = z.strictObject({ title: threadTitle.optional(), settings: threadSettings.optional() })
