import { z } from 'zod'
import { userId } from '../ids.ts'

export const costLimits = z.strictObject({
  maxCallsPerHour: z.number().int().min(0).max(10_000_000).optional(),
  maxTokensPerDay: z.number().int().min(0).max(1_000_000_000_000).optional(),
})

export const preferences = z.strictObject({
  /** Whether search selects tools for each prompt. */
  autoLoadTools: z.boolean().default(true),
  /** Maximum number of servers per thread. @default no cap */
  maxServersPerThread: z.number().int().min(1).max(1000).optional(),
  costLimits: costLimits.default({}),
  /** Whether prompts of successful calls improve later searches. False also deletes the stored prompts. */
  learnFromUse: z.boolean().default(true),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
})
export type Preferences = z.infer<typeof preferences>

/** Null removes a limit, or all cost limits. */
export const preferencesPatch = z.strictObject({
  autoLoadTools: z.boolean().optional(),
  maxServersPerThread: preferences.shape.maxServersPerThread.nullable(),
  costLimits: z
    .strictObject({
      maxCallsPerHour: costLimits.shape.maxCallsPerHour.nullable(),
      maxTokensPerDay: costLimits.shape.maxTokensPerDay.nullable(),
    })
    .nullish(),
  learnFromUse: z.boolean().optional(),
  theme: z.enum(['system', 'light', 'dark']).optional(),
})

export const preferencesRow = z.strictObject({
  preferencesId: z.string(),
  userId,
  valueJson: preferences,
  updatedAt: z.date(),
})
