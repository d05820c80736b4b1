/** Rows of search: tools that a thread loaded, tool usage per user, and embedding vectors. */
import { z } from 'zod'
import { ownerId, threadId, userId } from '../ids.ts'

/** A tool that a thread keeps loaded, or that an earlier prompt of the thread selected. */
export const loadedToolRow = z.strictObject({
  loadedToolId: z.string(),
  userId,
  threadId,
  /** `toolkit.tool`, as in an activation; no glob. */
  ref: z.string().min(3).max(400),
  /** Loaded by the app or a user, so that no limit evicts it. */
  sticky: z.boolean(),
  /**
   * Selected by a prompt only: later selections keep it, and the thread does not count it as loaded. A browser may hold
   * rows of a version without this field.
   */
  byPrompt: z.boolean().default(false),
  loadedAt: z.date(),
  usedAt: z.date(),
})
export type LoadedToolRow = z.infer<typeof loadedToolRow>

/** Maximum examples per user and tool, and their maximum length. */
export const MAX_EXAMPLES = 20
export const MAX_EXAMPLE_LENGTH = 400

/** Prompt that led to a call, with its time in ms since 1970. */
export const usedExample = z.strictObject({
  text: z.string().min(1).max(MAX_EXAMPLE_LENGTH),
  at: z.number().int().min(0),
})
export type UsedExample = z.infer<typeof usedExample>

/** Usage of one tool by one user. Only that user's searches read it. */
export const toolUseRow = z.strictObject({
  toolUseId: z.string(),
  userId,
  /** Toolkit of the user or the app. */
  uscoId: z.string(),
  /** The tool's name at its server. */
  tool: z.string(),
  calls: z.number().int().min(0),
  successes: z.number().int().min(0),
  lastUsedAt: z.date(),
  /** Ordered, newest last. */
  examplesJson: z.array(usedExample).max(MAX_EXAMPLES),
})
export type ToolUseRow = z.infer<typeof toolUseRow>

/** Vector by fingerprint of the embedded text. The text itself is not stored. */
export const toolVectorRow = z.strictObject({
  toolVectorId: z.string(),
  /** Owner of the tool; vectors of app tools are shared by all users. */
  userId: ownerId,
  embedder: z.string().min(1).max(200),
  fingerprint: z.string().min(1).max(100),
  /** Base64 of signed bytes, each relative to the largest value. */
  vector: z.string().max(30_000),
  createdAt: z.date(),
  usedAt: z.date(),
})
export type ToolVectorRow = z.infer<typeof toolVectorRow>
