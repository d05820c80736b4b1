import { z } from 'zod'
import { toolkitId } from '../ids.ts'
import { jsonObject, safeRecord } from '../json.ts'
import { tier } from '../scope.ts'
import { reason } from './loadout-entry.ts'
import { server } from './server.ts'
import { signInView } from './sign-in.ts'
import { allowedCallers, annotations, toolExamples, toolManifest } from './tool.ts'

const glob = z.string().min(1).max(300)
const milliseconds = z.number().int().min(1).max(86_400_000)

export const toolOverride = z.strictObject({
  name: z.string().min(1).max(256).optional(),
  title: z.string().max(500).optional(),
  description: z.string().max(8192).optional(),
  annotations: annotations.optional(),
  providerOptions: jsonObject.optional(),
  enabled: z.boolean().optional(),
  deferLoading: z.boolean().optional(),
  /** In place of what the toolkit says. */
  allowedCallers: allowedCallers.optional(),
  examples: toolExamples.optional(),
})
export type ToolOverride = z.infer<typeof toolOverride>

export const timeouts = z.strictObject({
  connectMs: milliseconds.optional(),
  introspectMs: milliseconds.optional(),
  callMs: milliseconds.optional(),
  totalMs: milliseconds.optional(),
  /** How long a connection that nobody uses is kept, for a server that must not be started or shaken hands with anew each time. */
  idleMs: milliseconds.optional(),
})

export const PROTOCOLS = ['auto', 'legacy', 'modern'] as const
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** What a toolkit says beside its server. Stored as one JSON column. */
export const toolkitOptions = z.strictObject({
  deferLoading: z.boolean().default(true),
  allowedCallers: allowedCallers.default(['direct', 'code']),
  include: z.array(glob).max(200).default([]),
  exclude: z.array(glob).max(200).default([]),
  overrides: safeRecord(toolOverride, { maxEntries: 2000 }).default({}),
  timeouts: timeouts.default({}),
  /** App tier only: one connection serves all users, because the server keeps nothing of any of them. The operator says so. */
  shared: z.boolean().default(false),
  /** Its server is not believed: what it claims of its tools relaxes nothing, and new tools start off. */
  untrusted: z.boolean().default(false),
  /** Protocol era to connect in. @default 'auto': negotiated, the older one where the server needs a back-channel */
  protocol: z.enum(PROTOCOLS).optional(),
  /** Level from which on the server is asked to log. @default 'info' */
  logLevel: z.enum(LOG_LEVELS).optional(),
  /** Whose account this is, where one server is bound more than once. */
  account: z.string().max(200).optional(),
  /** What defines it outside the database: a file, or the app's code. It is read-only everywhere else. */
  source: z.string().max(300).optional(),
  /** Manifests known in advance, used until the first introspection. */
  tools: z.array(toolManifest).max(2000).optional(),
})
export type ToolkitOptions = z.infer<typeof toolkitOptions>
/** What an app sets for toolkits whose record says nothing of it. */
export type ToolkitDefaults = Partial<Pick<ToolkitOptions, 'deferLoading' | 'allowedCallers'>>

export const toolkitName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100)
  .regex(/^[^\p{Cc}\p{Cf}]*$/u, 'must not hold control characters')

/** A named binding of one server for an owner. */
export const toolkit = z.strictObject({
  id: toolkitId,
  name: toolkitName,
  enabled: z.boolean().default(true),
  server,
  ...toolkitOptions.shape,
})
export type Toolkit = z.infer<typeof toolkit>
export type ToolkitRecord = z.input<typeof toolkit>

export const STATES = [
  'disconnected',
  'connecting',
  'connected',
  'sign-in-needed',
  'input-needed',
  'changed',
  'error',
  'disabled',
] as const
export const START_PHASES = ['installing', 'starting', 'probing', 'listing'] as const
const stateDetails = {
  code: z.string().optional(),
  reason: z.string().optional(),
  action: z.string().optional(),
  url: z.string().optional(),
  /** Of a server that is connecting: how far its start is, and what it printed last. */
  phase: z.enum(START_PHASES).optional(),
  lastLine: z.string().optional(),
  /** Its process's last output, where it failed and the reader may see it. */
  output: z.string().optional(),
}
/** A failed server always says which error of the table it is, why, and what to do: wherever it failed. */
export const toolkitState = z.discriminatedUnion('status', [
  z.object({
    ...stateDetails,
    status: z.literal('error'),
    code: z.string(),
    reason: z.string(),
    action: z.string(),
  }),
  z.object({ ...stateDetails, status: z.enum(STATES).exclude(['error']) }),
])
export type ToolkitState = z.infer<typeof toolkitState>

/** A tool as the API shows it. */
export const toolView = toolManifest.extend({
  ref: z.string(),
  modelName: z.string(),
  enabled: z.boolean(),
  pin: z.string(),
  /** What was accepted and what the server says now, where they differ. */
  changed: z.object({ from: jsonObject, to: jsonObject }).optional(),
  /** The same for a difference without meaning: order, defaults, examples, white space. The tool stays usable. */
  minorChange: z.object({ from: jsonObject, to: jsonObject }).optional(),
  /** Why it is off until a person accepts it. */
  held: z.string().optional(),
  /** What switched it off, where something did: a word of a tier, a list of its toolkit, a transformer. */
  off: z.array(reason).optional(),
})
export type ToolView = z.infer<typeof toolView>

/** A toolkit as the API shows it. Secrets are `${secret:…}` placeholders. */
export const toolkitView = z.object({
  id: z.string(),
  uscoId: z.string(),
  name: z.string(),
  tier,
  readOnly: z.boolean(),
  enabled: z.boolean(),
  server: jsonObject,
  /** Sealed fields that are secrets by declaration, name or form: `env.API_KEY`, not `env.PATH`. */
  secretFields: z.array(z.string()),
  options: toolkitOptions,
  state: toolkitState,
  /** Where its server wants people to sign in. */
  signIn: signInView.optional(),
  tools: z.array(toolView),
  toolCount: z.number(),
  /** When its server was last asked for them, or its definition read. */
  discoveredAt: z.iso.datetime().optional(),
  tokens: z.number(),
  /** What was changed or left out when its tools were read. */
  warnings: z.array(z.string()).optional(),
  /** Tools that cannot be used, and why. */
  setAside: z.array(z.object({ name: z.string(), reason: z.string() })),
  /** The tier of the toolkit that this one hides, where it hides one. */
  shadows: tier.optional(),
})
export type ToolkitView = z.infer<typeof toolkitView>

/** A tool in a list: without its schemas, icons and `_meta`, which are most of its size, and with the beginning of a long description. */
export const listedTool = toolView
  .omit({ inputSchema: true, outputSchema: true, changed: true, minorChange: true })
  .extend({
    inputSchema: toolView.shape.inputSchema.optional(),
    outputSchema: toolView.shape.outputSchema,
    /** Whether it changed since it was accepted; with schemas, both versions. */
    changed: z.object({ from: jsonObject.optional(), to: jsonObject.optional() }).optional(),
    /** Whether it changed without a change of meaning; with schemas, both versions. */
    minorChange: z.object({ from: jsonObject.optional(), to: jsonObject.optional() }).optional(),
  })
/** A toolkit in a list. */
export const listedToolkit = toolkitView.extend({ tools: z.array(listedTool) })
export type ListedToolkit = z.infer<typeof listedToolkit>
