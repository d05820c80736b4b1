import { z } from 'zod'
import { widestHostPattern } from './host-pattern.ts'
import { jsonObject } from './json.ts'

/** Model requests per answer. */
export const stepLimit = z.number().int().min(1).max(100)
/** Tokens per answer: input and output together. */
export const tokenBudget = z.number().int().min(1).max(100_000_000)

const count = z.number().int().min(0).max(1_000_000_000_000)

const discovery = z.strictObject({
  /** Whether a server registry is searched. */
  enabled: z.boolean(),
  endpoint: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .max(2000)
    .optional(),
  /** Whether servers that the registry returns are added without a request. */
  autoDiscover: z.boolean(),
})
const defaults = z.strictObject({
  deferLoading: z.boolean(),
  /** Tokens of definitions up to which a selection has all tools of its loadout; 0 always defers. */
  deferAboveTokens: z.number().int().min(0).max(1_000_000),
  /** Whether programs may call tools of toolkits that set no `allowedCallers`. */
  enableProgrammaticCalling: z.boolean(),
})
const trust = z.strictObject({
  /** Globs over the ids of toolkits whose annotations are not trusted. */
  untrusted: z.array(z.string().min(1).max(300)).max(200),
  /** Whether annotations of user-registered servers are trusted. */
  userToolkits: z.boolean(),
})
/** Upper limits: users and threads may set lower values. */
const limits = z.strictObject({
  maxCallsPerHour: count.optional(),
  maxTokensPerDay: count.optional(),
  maxCallsPerRun: count.optional(),
  /** Limits of one chat answer or one agent node. */
  maxStepsPerAnswer: stepLimit.optional(),
  maxTokensPerAnswer: tokenBudget.optional(),
  /** Concurrent calls per user: to one toolkit, and in total. */
  concurrencyPerToolkit: count.min(1).optional(),
  concurrencyPerUser: count.min(1).optional(),
  argumentBytes: count,
  /** Bytes of a result that are returned inline. Larger results are stored, and the caller gets a preview. */
  resultBytes: count,
  /** Maximum call duration in ms; it caps the timeout of the toolkit. */
  callMs: count.min(1).optional(),
})

const audit = z.strictObject({
  /** Days that audit entries are retained. @default no end */
  retentionDays: z.number().int().min(1).max(36_500).optional(),
})

const customToolkits = z.strictObject({
  /** Hosts that custom toolkit code may fetch from, when the tool also declares them. */
  hosts: z.array(widestHostPattern).max(200),
})

/** App-wide configuration (source 001). */
export const appConfig = z
  .strictObject({ discovery, defaults, trust, limits, audit, customToolkits })
  .refine((config) => !config.discovery.enabled || config.discovery.endpoint !== undefined, {
    path: ['discovery', 'endpoint'],
    message: 'is needed where discovery is enabled',
  })
export type AppConfig = z.infer<typeof appConfig>

/** Configuration that applies when no operator saved one. */
export const DEFAULT_APP_CONFIG: AppConfig = {
  discovery: { enabled: false, autoDiscover: false },
  defaults: { deferLoading: true, deferAboveTokens: 10_000, enableProgrammaticCalling: true },
  trust: { untrusted: [], userToolkits: true },
  limits: { argumentBytes: 1_048_576, resultBytes: 100_000 },
  audit: {},
  customToolkits: { hosts: [] },
}

const { shape } = limits

/** Partial update. Null removes a limit, or resets a required value to its default. */
export const appConfigPatch = z.strictObject({
  discovery: discovery.partial().extend({ endpoint: discovery.shape.endpoint.nullable() }).optional(),
  defaults: defaults.partial().extend({ deferAboveTokens: defaults.shape.deferAboveTokens.nullish() }).optional(),
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
