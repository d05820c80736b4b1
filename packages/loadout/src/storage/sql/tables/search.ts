/** Tables of tool search: loaded tools, tool usage and vectors. */
import { bigint, boolean, index, jsonb, text } from 'drizzle-orm/pg-core'
import type { UsedExample } from '../../../schema/toolkit/search.ts'
import { at, created, key, mcp, owner, uniqueOn } from './columns.ts'

export const loadedTools = mcp.table(
  'loaded_tools',
  {
    loadedToolId: text('loaded_tool_id').notNull(),
    userId: owner(),
    threadId: text('thread_id').notNull(),
    ref: text('ref').notNull(),
    sticky: boolean('sticky').notNull(),
    byPrompt: boolean('by_prompt').notNull().default(false),
    loadedAt: at('loaded_at').notNull(),
    usedAt: at('used_at').notNull(),
  },
  (t) => [
    key('loaded_tools', [t.userId, t.loadedToolId]),
    uniqueOn('loaded_tools', [t.userId, t.threadId, t.ref]),
    index('loaded_tools_used').on(t.usedAt),
  ],
)

export const toolUses = mcp.table(
  'tool_uses',
  {
    toolUseId: text('tool_use_id').notNull(),
    userId: owner(),
    uscoId: text('usco_id').notNull(),
    tool: text('tool').notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    successes: bigint('successes', { mode: 'number' }).notNull(),
    lastUsedAt: at('last_used_at').notNull(),
    examplesJson: jsonb('examples_json').$type<UsedExample[]>().notNull(),
  },
  (t) => [
    key('tool_uses', [t.userId, t.toolUseId]),
    uniqueOn('tool_uses', [t.userId, t.uscoId, t.tool]),
    index('tool_uses_last').on(t.lastUsedAt),
  ],
)

export const toolVectors = mcp.table(
  'tool_vectors',
  {
    toolVectorId: text('tool_vector_id').notNull(),
    userId: owner(),
    embedder: text('embedder').notNull(),
    fingerprint: text('fingerprint').notNull(),
    vector: text('vector').notNull(),
    createdAt: created(),
    usedAt: at('used_at').notNull(),
  },
  (t) => [
    key('tool_vectors', [t.userId, t.toolVectorId]),
    uniqueOn('tool_vectors', [t.userId, t.embedder, t.fingerprint]),
    index('tool_vectors_used').on(t.usedAt),
  ],
)
