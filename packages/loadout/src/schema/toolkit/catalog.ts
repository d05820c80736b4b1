import { z } from 'zod'
import { ownerId } from '../ids.ts'
import { jsonObject, objectSchema } from '../json.ts'
import { configType } from './server.ts'
import { toolIcon } from './tool.ts'

/** The older era that `protocol: "auto"` fell back to, for one version of a record and of its server. */
export const rememberedEra = z.object({
  /** When the record was changed last, in ms. */
  recordAt: z.number(),
  version: z.string(),
  /** What showed it: the negotiation, or a call that needed a back-channel. */
  cause: z.enum(['negotiated', 'back-channel']),
  transport: z.enum(['http', 'sse']).optional(),
})
export type RememberedEra = z.infer<typeof rememberedEra>

export const introspectionStatus = z.enum(['pending', 'success', 'error'])

/** A stored toolkit, with the names of source 003. `slug` is the toolkit id; secrets are placeholders. */
export const userServerConfigRow = z.strictObject({
  uscoId: z.string(),
  userId: ownerId,
  slug: z.string(),
  name: z.string(),
  configType,
  configJson: jsonObject,
  optionsJson: jsonObject,
  serverId: z.string().nullable(),
  enabled: z.boolean(),
  introspectionStatus: introspectionStatus.nullable(),
  introspectionReason: z.string().nullable(),
  introspectedAt: z.date().nullable(),
  /** Changes with the server, auth or overrides, and with nothing else. Grants apply to one binding. */
  binding: z.string(),
  /** `RememberedEra`; checked where it is read. A browser may hold rows of a version without this field. */
  eraJson: jsonObject.nullable().default(null),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type UserServerConfigRow = z.infer<typeof userServerConfigRow>

/** A discovered tool of a configured server. */
export const userServerToolRow = z.strictObject({
  utoolId: z.string(),
  userId: ownerId,
  uscoId: z.string(),
  name: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  inputSchemaJson: objectSchema,
  outputSchemaJson: jsonObject.nullable(),
  annotationsJson: jsonObject.nullable(),
  // A browser may hold rows of a version without these fields.
  iconsJson: z.array(toolIcon).nullable().default(null),
  metaJson: jsonObject.nullable().default(null),
  fingerprint: z.string(),
  discoveredAt: z.date(),
  /** False: the server no longer lists the tool, or it is invalid for `reason`. */
  isActive: z.boolean(),
  reason: z.string().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type UserServerToolRow = z.infer<typeof userServerToolRow>

/** The accepted manifest of a tool, and the current one when it differs. */
export const pinRow = z.strictObject({
  pinId: z.string(),
  userId: ownerId,
  uscoId: z.string(),
  name: z.string(),
  fingerprint: z.string(),
  manifestJson: jsonObject,
  changedFingerprint: z.string().nullable(),
  changedManifestJson: jsonObject.nullable(),
  acceptedBy: z.string(),
  acceptedAt: z.date(),
})
export type PinRow = z.infer<typeof pinRow>

/**
 * Tools that an app server offers to one signed-in user. One row per user and toolkit, with discovered and accepted
 * manifests.
 */
export const personalCatalogRow = z.strictObject({
  personalCatalogId: z.string(),
  userId: ownerId,
  uscoId: z.string(),
  /** `PersonalTool` by name; validated on read. */
  toolsJson: jsonObject,
  introspectedAt: z.date(),
  /** Version of the toolkit record that was discovered. */
  recordAt: z.date(),
  version: z.number().int(),
})
export type PersonalCatalogRow = z.infer<typeof personalCatalogRow>

/** A marketplace server, its versions, and the tools of a version. Shared by all users. */
export const marketplaceServerRow = z.strictObject({
  serverId: z.string(),
  name: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  status: z.enum(['active', 'deprecated', 'deleted']),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export const marketplaceVersionRow = z.strictObject({
  sverId: z.string(),
  serverId: z.string(),
  version: z.string(),
  isLatest: z.boolean(),
  serverJson: jsonObject,
  createdAt: z.date(),
})
export const marketplaceToolRow = z.strictObject({
  toolId: z.string(),
  sverId: z.string(),
  name: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  inputSchemaJson: objectSchema,
  createdAt: z.date(),
  updatedAt: z.date(),
})
