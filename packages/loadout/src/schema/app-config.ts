import { z } from 'zod'
import { jsonObject } from './json.ts'

/** What the app's developer sets for everyone (source 001). */
export const appConfig = z.strictObject({
  discovery: z
    .strictObject({
      enabled: z.boolean().default(false),
      endpoint: z.url().optional(),
      autoDiscover: z.boolean().default(false),
    })
    .default({ enabled: false, autoDiscover: false }),
  defaults: z
    .strictObject({ deferLoading: z.boolean().default(true), enableProgrammaticCalling: z.boolean().default(true) })
    .default({ deferLoading: true, enableProgrammaticCalling: true }),
})
export type AppConfig = z.infer<typeof appConfig>

export const appConfigRow = z.strictObject({ configId: z.string(), valueJson: jsonObject, updatedAt: z.date() })
