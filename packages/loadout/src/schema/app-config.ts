import { z } from 'zod'
import { jsonObject } from './json.ts'

const discovery = z.strictObject({
  /** Whether a registry of servers is asked. */
  enabled: z.boolean().default(false),
  endpoint: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .max(2000)
    .optional(),
  /** Whether what it finds is added by itself. */
  autoDiscover: z.boolean().default(false),
})
const defaults = z.strictObject({
  deferLoading: z.boolean().default(true),
  /** Whether programs may call tools whose toolkit does not say who may. */
  enableProgrammaticCalling: z.boolean().default(true),
})

/** What the app's developer sets for everyone (source 001). */
export const appConfig = z
  .strictObject({ discovery: discovery.prefault({}), defaults: defaults.prefault({}) })
  .refine((config) => !config.discovery.enabled || config.discovery.endpoint !== undefined, {
    path: ['discovery', 'endpoint'],
    message: 'is needed where discovery is enabled',
  })
export type AppConfig = z.output<typeof appConfig>
export type AppConfigInput = z.input<typeof appConfig>

/** A change of some of its fields. */
export const appConfigPatch = z.strictObject({
  discovery: z
    .strictObject({
      enabled: z.boolean().optional(),
      endpoint: discovery.shape.endpoint,
      autoDiscover: z.boolean().optional(),
    })
    .optional(),
  defaults: z
    .strictObject({ deferLoading: z.boolean().optional(), enableProgrammaticCalling: z.boolean().optional() })
    .optional(),
})

export const appConfigRow = z.strictObject({ configId: z.string(), valueJson: jsonObject, updatedAt: z.date() })
