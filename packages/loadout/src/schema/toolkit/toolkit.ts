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
  /** Overrides the toolkit's setting. */
  allowedCallers: allowedCallers.optional(),
  examples: toolExamples.optional(),
})
export type ToolOverride = z.infer<typeof toolOverride>

export const timeouts = z.strictObject({
  connectMs: milliseconds.optional(),
  introspectMs: milliseconds.optional(),
  callMs: milliseconds.optional(),
  totalMs: milliseconds.optional(),
  /** Idle time in ms after which a connection is closed, for servers with an expensive start or handshake. */
  idleMs: milliseconds.optional(),
})

export const PROTOCOLS = ['auto', 'legacy', 'modern'] as const
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** Toolkit settings beside the server. Stored as one JSON column. */
export const toolkitOptions = z.strictObject({
  deferLoading: z.boolean().default(true),
  allowedCallers: allowedCallers.default(['direct', 'code']),
  include: z.array(glob).max(200).default([]),
  exclude: z.array(glob).max(200).default([]),
  overrides: safeRecord(toolOverride, { maxEntries: 2000 }).default({}),
  timeouts: timeouts.default({}),
  /** App tier only: all users share one connection, because the operator declares the server stateless. */
  shared: z.boolean().default(false),
  /** Annotations of the server are not trusted: they relax no policy, and new tools start turned off. */
  untrusted: z.boolean().default(false),
  /** Protocol era. @default 'auto': negotiated; the older era when the server needs a back-channel */
  protocol: z.enum(PROTOCOLS).optional(),
  /** Minimum level of server log messages. @default 'info' */
  logLevel: z.enum(LOG_LEVELS).optional(),
  /** Account label, when one server is bound more than once. */
  account: z.string().max(200).optional(),
  /** File or app code that defines the toolkit. It is read-only elsewhere. */
  source: z.string().max(300).optional(),
  /** Declared manifests, used until the first discovery. */
  tools: z.array(toolManifest).max(2000).optional(),
})
export type ToolkitOptions = z.infer<typeof toolkitOptions>
/** App-wide defaults for toolkit settings. */
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
  /** Startup phase of a connecting server, and its last output line. */
  phase: z.enum(START_PHASES).optional(),
  lastLine: z.string().optional(),
  /** Last process output of a failed server, when the reader may see it. */
  output: z.string().optional(),
}
/** A failed server always has an error code, a reason and a fix. */
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

/** Tool in the API. */
export const toolView = toolManifest.extend({
  ref: z.string(),
  modelName: z.string(),
  enabled: z.boolean(),
  pin: z.string(),
  /** Accepted and current manifest, when they differ. */
  changed: z.object({ from: jsonObject, to: jsonObject }).optional(),
  /** The same for differences without meaning: order, defaults, examples, white space. The tool stays usable. */
  minorChange: z.object({ from: jsonObject, to: jsonObject }).optional(),
  /** Why the tool is off until a user accepts it. */
  held: z.string().optional(),
  /** Reasons that turned the tool off: an activation, a toolkit filter or a transformer. */
  off: z.array(reason).optional(),
})
export type ToolView = z.infer<typeof toolView>

/** Toolkit in the API. Secrets are `${secret:…}` placeholders. */
export const toolkitView = z.object({
  id: z.string(),
  uscoId: z.string(),
  name: z.string(),
  tier,
  readOnly: z.boolean(),
  enabled: z.boolean(),
  server: jsonObject,
  /** Encrypted fields that are secret by declaration, name or form: `env.API_KEY`, not `env.PATH`. */
  secretFields: z.array(z.string()),
  options: toolkitOptions,
  state: toolkitState,
  /** Sign-in state, when the server requires it. */
  signIn: signInView.optional(),
  tools: z.array(toolView),
  toolCount: z.number(),
  /** Time of the last discovery, or of the last read of its definition. */
  discoveredAt: z.iso.datetime().optional(),
  tokens: z.number(),
  /** Warnings of the last discovery. */
  warnings: z.array(z.string()).optional(),
  /** Invalid tools with the reason. */
  setAside: z.array(z.object({ name: z.string(), reason: z.string() })),
  /** Tier of the toolkit that this one shadows. */
  shadows: tier.optional(),
})
export type ToolkitView = z.infer<typeof toolkitView>

/** Tool in a list: without schemas, icons and `_meta`, and with the beginning of a long description. */
export const listedTool = toolView
  .omit({ inputSchema: true, outputSchema: true, changed: true, minorChange: true })
  .extend({
    inputSchema: toolView.shape.inputSchema.optional(),
    outputSchema: toolView.shape.outputSchema,
    /** Set when the tool changed since it was accepted; with schemas, both versions. */
    changed: z.object({ from: jsonObject.optional(), to: jsonObject.optional() }).optional(),
    /** Set when the tool changed without a change of meaning; with schemas, both versions. */
    minorChange: z.object({ from: jsonObject.optional(), to: jsonObject.optional() }).optional(),
  })
export const listedToolkit = toolkitView.extend({ tools: z.array(listedTool) })
export type ListedToolkit = z.infer<typeof listedToolkit>
