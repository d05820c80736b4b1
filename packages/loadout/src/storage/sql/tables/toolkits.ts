/** Tables of configured servers: configs, discovered tools, pins, credentials and sign-ins. */
import { sql } from 'drizzle-orm'
import { boolean, check, foreignKey, index, integer, type PgColumn, text } from 'drizzle-orm/pg-core'
import type { ToolIcon } from '../../../schema/toolkit/tool.ts'
import { at, created, key, list, mcp, object, objectSchemaCheck, ordered, owner, uniqueOn, updated } from './columns.ts'

export const userServerConfigs = mcp.table(
  'user_server_configs',
  {
    uscoId: text('usco_id').notNull(),
    userId: owner(),
    slug: text('slug').notNull(),
    name: text('name').notNull(),
    configType: text('config_type', { enum: ['mcp_stdio', 'mcp_http', 'mcp_marketplace', 'custom'] })
      .notNull()
      .default('mcp_stdio'),
    configJson: ordered('config_json').notNull(),
    optionsJson: object('options_json').notNull(),
    serverId: text('server_id'),
    enabled: boolean('enabled').notNull().default(true),
    introspectionStatus: text('introspection_status', { enum: ['pending', 'success', 'error'] }),
    introspectionReason: text('introspection_reason'),
    introspectedAt: at('introspected_at'),
    binding: text('binding').notNull().default(''),
    eraJson: object('era_json'),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [
    key('user_server_configs', [t.userId, t.uscoId]),
    uniqueOn('user_server_configs', [t.userId, t.slug]),
    uniqueOn('user_server_configs', [t.userId, t.name]),
    index('user_server_configs_server').on(t.serverId),
    check(
      'user_server_configs_type_check',
      sql`${t.configType} IN ('mcp_stdio', 'mcp_http', 'mcp_marketplace', 'custom')`,
    ),
    check(
      'user_server_configs_marketplace_check',
      sql`(${t.configType} = 'mcp_marketplace') = (${t.serverId} IS NOT NULL)`,
    ),
    check('user_server_configs_slug_check', sql`${t.slug} ~ '^[a-z0-9][a-z0-9_-]{0,47}$'`),
  ],
)

/** Foreign key to a configured server; rows are deleted with it. */
const ofConfig = (table: string, columns: { userId: PgColumn; uscoId: PgColumn }) =>
  foreignKey({
    name: `${table}_config`,
    columns: [columns.userId, columns.uscoId],
    foreignColumns: [userServerConfigs.userId, userServerConfigs.uscoId],
  }).onDelete('cascade')

export const userServerTools = mcp.table(
  'user_server_tools',
  {
    utoolId: text('utool_id').notNull(),
    userId: owner(),
    uscoId: text('usco_id').notNull(),
    name: text('name').notNull(),
    title: text('title'),
    description: text('description'),
    inputSchemaJson: ordered('input_schema_json').notNull(),
    outputSchemaJson: ordered('output_schema_json'),
    annotationsJson: object('annotations_json'),
    iconsJson: list<ToolIcon>('icons_json'),
    metaJson: ordered('meta_json'),
    fingerprint: text('fingerprint').notNull(),
    discoveredAt: at('discovered_at').notNull().defaultNow(),
    isActive: boolean('is_active').notNull().default(true),
    reason: text('reason'),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [
    key('user_server_tools', [t.userId, t.utoolId]),
    uniqueOn('user_server_tools', [t.userId, t.uscoId, t.name]),
    index('idx_user_server_tools_usco_id').on(t.uscoId),
    index('idx_user_server_tools_active').on(t.uscoId, t.isActive),
    ofConfig('user_server_tools', t),
    objectSchemaCheck('user_server_tools', t.inputSchemaJson),
  ],
)

export const pins = mcp.table(
  'pins',
  {
    pinId: text('pin_id').notNull(),
    userId: owner(),
    uscoId: text('usco_id').notNull(),
    name: text('name').notNull(),
    fingerprint: text('fingerprint').notNull(),
    manifestJson: ordered('manifest_json').notNull(),
    changedFingerprint: text('changed_fingerprint'),
    changedManifestJson: ordered('changed_manifest_json'),
    acceptedBy: text('accepted_by').notNull(),
    acceptedAt: at('accepted_at').notNull(),
  },
  (t) => [key('pins', [t.userId, t.pinId]), uniqueOn('pins', [t.userId, t.uscoId, t.name]), ofConfig('pins', t)],
)

export const credentials = mcp.table(
  'credentials',
  {
    credentialId: text('credential_id').notNull(),
    userId: owner(),
    toolkit: text('toolkit').notNull(),
    field: text('field').notNull(),
    keyId: text('key_id').notNull(),
    wrappedKey: text('wrapped_key').notNull(),
    iv: text('iv').notNull(),
    ciphertext: text('ciphertext').notNull(),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [
    key('credentials', [t.userId, t.credentialId]),
    uniqueOn('credentials', [t.userId, t.toolkit, t.field]),
    index('credentials_key').on(t.keyId, t.credentialId),
  ],
)

export const personalCatalogs = mcp.table(
  'personal_catalogs',
  {
    personalCatalogId: text('personal_catalog_id').notNull(),
    userId: owner(),
    uscoId: text('usco_id').notNull(),
    toolsJson: ordered('tools_json').notNull(),
    introspectedAt: at('introspected_at').notNull(),
    recordAt: at('record_at').notNull(),
    version: integer('version').notNull(),
  },
  (t) => [
    key('personal_catalogs', [t.userId, t.personalCatalogId]),
    uniqueOn('personal_catalogs', [t.userId, t.uscoId]),
  ],
)

export const signIns = mcp.table(
  'sign_ins',
  {
    signInId: text('sign_in_id').notNull(),
    userId: owner(),
    uscoId: text('usco_id').notNull(),
    issuer: text('issuer'),
    expiresAt: at('expires_at'),
    renewable: boolean('renewable').notNull(),
    generation: integer('generation').notNull(),
    leaseHolder: text('lease_holder'),
    leaseUntil: at('lease_until'),
    stateHash: text('state_hash'),
    stateUntil: at('state_until'),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [
    key('sign_ins', [t.userId, t.signInId]),
    uniqueOn('sign_ins', [t.userId, t.uscoId]),
    index('sign_ins_state').on(t.stateHash),
  ],
)
