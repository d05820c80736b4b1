/** Columns and keys that the tables share. */
import { sql } from 'drizzle-orm'
import { check, json, jsonb, type PgColumn, pgSchema, primaryKey, text, timestamp, unique } from 'drizzle-orm/pg-core'
import type { JsonObject } from '../../../schema/json.ts'

export const mcp = pgSchema('mcp')

export const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3 })
export const created = () => at('created_at').notNull().defaultNow()
export const updated = () => at('updated_at').notNull().defaultNow()
export const object = (name: string) => jsonb(name).$type<JsonObject>()
/** JSON that keeps its key order, unlike jsonb: models read a tool's arguments in the server's order. */
export const ordered = (name: string) => json(name).$type<JsonObject>()
export const list = <T>(name: string) => json(name).$type<T[]>()
export const owner = () => text('user_id').notNull()

/** The constraint name contains the fields, so that an error can name them: `user_server_configs__user_id__name`. */
export const uniqueOn = (table: string, columns: [PgColumn, ...PgColumn[]]) =>
  unique([table, ...columns.map((column) => column.name)].join('__')).on(...columns)
export const key = (table: string, columns: [PgColumn, ...PgColumn[]]) => primaryKey({ name: `${table}_pkey`, columns })
export const objectSchemaCheck = (table: string, column: PgColumn) =>
  check(`${table}_input_schema_check`, sql`json_typeof(${column}) = 'object' AND (${column}->>'type') = 'object'`)
