import { z } from 'zod'
import { widestHostPattern } from './host-pattern.ts'
import { jsonObject } from './json.ts'

/** How often a model may be asked for one answer. */
export const stepLimit = z.number().int().min(1).max(100)
/** Tokens of one answer in all, of what the model is sent and of what it says. */
export const tokenBudget = z.number().int().min(1).max(100_000_000)

const count = z.number().int().min(0).max(1_000_000_000_000)

const discovery = z.strictObject({
  /** Whether a registry of servers is asked. */
  enabled: z.boolean(),
  endpoint: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .max(2000)
    .optional(),
  /** Whether what it finds is added by itself. */
  autoDiscover: z.boolean(),
})
const defaults = z.strictObject({
  deferLoading: z.boolean(),
  /** Whether programs may call tools whose toolkit does not say who may. */
  enableProgrammaticCalling: z.boolean(),
})
const trust = z.strictObject({
  /** Toolkits whose servers are not believed, by globs over their ids. */
  untrusted: z.array(z.string().min(1).max(300)).max(200),
  /** Whether the servers that users bring are believed. */
  userToolkits: z.boolean(),
})
/** Ceilings: a user or a thread may set less, and never more. */
const limits = z.strictObject({
  maxCallsPerHour: count.optional(),
  maxTokensPerDay: count.optional(),
  maxCallsPerRun: count.optional(),
  /** Of one answer of a chat or of an agent in a workflow. */
  maxStepsPerAnswer: stepLimit.optional(),
  maxTokensPerAnswer: tokenBudget.optional(),
  /** Calls of one user at once, to one toolkit and in all. */
  concurrencyPerToolkit: count.min(1).optional(),
  concurrencyPerUser: count.min(1).optional(),
  argumentBytes: count,
  /** What of a result is handed on as it is; beyond that it is kept, and a preview is given. */
  resultBytes: count,
  /** The longest that a call may take, whatever its toolkit says. */
  callMs: count.min(1).optional(),
})

const audit = z.strictObject({
  /** For how long the log is kept. Without it, for ever. */
  retentionDays: z.number().int().min(1).max(36_500).optional(),
})

const customToolkits = z.strictObject({
  /** Hosts that the code of custom toolkits may fetch from, where its tool names them. */
  hosts: z.array(widestHostPattern).max(200),
})

/** What holds for everyone (source 001). */
export const appConfig = z
  .strictObject({ discovery, defaults, trust, limits, audit, customToolkits })
  .refine((config) => !config.discovery.enabled || config.discovery.endpoint !== undefined, {
    path: ['discovery', 'endpoint'],
    message: 'is needed where discovery is enabled',
  })
export type AppConfig = z.infer<typeof appConfig>

/** What holds where nobody says anything. */
export const DEFAULT_APP_CONFIG: AppConfig = {
  discovery: { enabled: false, autoDiscover: false },
  defaults: { deferLoading: true, enableProgrammaticCalling: true },
  trust: { untrusted: [], userToolkits: true },
  limits: { argumentBytes: 1_048_576, resultBytes: 100_000 },
  audit: {},
  customToolkits: { hosts: [] },
}

const { shape } = limits

/** Some of its fields: what is given over what holds. Null takes a limit away, or sets back what must have a value. */
export const appConfigPatch = z.strictObject({
  discovery: discovery.partial().extend({ endpoint: discovery.shape.endpoint.nullable() }).optional(),
  defaults: defaults.partial().optional(),
  trust: trust.partial().optional(),
  limits: z
    .strictObject({
      maxCallsPerHour: shape.maxCallsPerHour.nullable(),
      maxTokensPerDay: shape.maxTokensPerDay.nullable(),
      maxCallsPerRun: shape.maxCallsPerRun.nullable(),
      maxStepsPerAnswer: shape.maxStepsPerAnswer.nullable(),
      maxTokensPerAnswer: shape.maxTokensPerAnswer.nullable(),
      concurrencyPerToolkit: shape.concurrencyPerToolkit.nullable(),
      concurrencyPerUser: shape.concurrencyPerUser.nullable(),
      argumentBytes: shape.argumentBytes.nullish(),
      resultBytes: shape.resultBytes.nullish(),
      callMs: shape.callMs.nullable(),
    })
    .optional(),
  audit: z.strictObject({ retentionDays: audit.shape.retentionDays.nullable() }).optional(),
  customToolkits: customToolkits.partial().optional(),
})
export type AppConfigInput = z.infer<typeof appConfigPatch>

export const appConfigRow = z.strictObject({ configId: z.string(), valueJson: jsonObject, updatedAt: z.date() })
