/** Tables shared by all users: marketplace servers with their tools, and the app's configuration. */
import { boolean, foreignKey, text } from 'drizzle-orm/pg-core'
import { created, key, mcp, object, objectSchemaCheck, ordered, uniqueOn, updated } from './columns.ts'

export const servers = mcp.table(
  'servers',
  {
    serverId: text('server_id').notNull(),
    name: text('name').notNull(),
    title: text('title'),
    description: text('description'),
    status: text('status', { enum: ['active', 'deprecated', 'deleted'] }).notNull(),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [key('servers', [t.serverId]), uniqueOn('servers', [t.name])],
)

export const serverVersions = mcp.table(
  'server_versions',
  {
    sverId: text('sver_id').notNull(),
    serverId: text('server_id').notNull(),
    version: text('version').notNull(),
    isLatest: boolean('is_latest').notNull(),
    serverJson: object('server_json').notNull(),
    createdAt: created(),
  },
  (t) => [
    key('server_versions', [t.sverId]),
    uniqueOn('server_versions', [t.serverId, t.version]),
    foreignKey({ name: 'server_versions_server', columns: [t.serverId], foreignColumns: [servers.serverId] }).onDelete(
      'cascade',
    ),
  ],
)

export const tools = mcp.table(
  'tools',
  {
    toolId: text('tool_id').notNull(),
    sverId: text('sver_id').notNull(),
    name: text('name').notNull(),
    title: text('title'),
    description: text('description'),
    inputSchemaJson: ordered('input_schema_json').notNull(),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [
    key('tools', [t.toolId]),
    uniqueOn('tools', [t.sverId, t.name]),
    foreignKey({ name: 'tools_version', columns: [t.sverId], foreignColumns: [serverVersions.sverId] }).onDelete(
      'cascade',
    ),
    objectSchemaCheck('tools', t.inputSchemaJson),
  ],
)

export const appConfigTable = mcp.table(
  'app_config',
  { configId: text('config_id').notNull(), valueJson: object('value_json').notNull(), updatedAt: updated() },
  (t) => [key('app_config', [t.configId])],
)
