/** What searches keep: the tools that a thread loaded, what a user did with a tool, and vectors of what was embedded. */
import { z } from 'zod'
import { ownerId, threadId, userId } from '../ids.ts'

/** A tool that a thread has found and keeps. */
export const loadedToolRow = z.strictObject({
  loadedToolId: z.string(),
  userId,
  threadId,
  /** `toolkit.tool`, as in an activation; no glob. */
  ref: z.string().min(3).max(400),
  /** Loaded by the app or a person, so that no limit lets it go. */
  sticky: z.boolean(),
  loadedAt: z.date(),
  usedAt: z.date(),
})
export type LoadedToolRow = z.infer<typeof loadedToolRow>

/** How many examples a tool has of one user, and how long each may be. */
export const MAX_EXAMPLES = 20
export const MAX_EXAMPLE_LENGTH = 400

/** What was asked for when a tool was used, and when, in milliseconds since 1970. */
export const usedExample = z.strictObject({
  text: z.string().min(1).max(MAX_EXAMPLE_LENGTH),
  at: z.number().int().min(0),
})
export type UsedExample = z.infer<typeof usedExample>

/** What one user did with one tool. Nobody else's search reads it. */
export const toolUseRow = z.strictObject({
  toolUseId: z.string(),
  userId,
  /** The toolkit, theirs or the app's. */
  uscoId: z.string(),
  /** The tool's name at its server. */
  tool: z.string(),
  calls: z.number().int().min(0),
  successes: z.number().int().min(0),
  lastUsedAt: z.date(),
  /** The newest last. */
  examplesJson: z.array(usedExample).max(MAX_EXAMPLES),
})
export type ToolUseRow = z.infer<typeof toolUseRow>

/** A vector by the fingerprint of what was embedded: the text itself is not here. */
export const toolVectorRow = z.strictObject({
  toolVectorId: z.string(),
  /** Whose tool it was; the app's own serve everyone. */
  userId: ownerId,
  embedder: z.string().min(1).max(200),
  fingerprint: z.string().min(1).max(100),
  /** Bytes in base64, each a signed share of the largest. */
  vector: z.string().max(30_000),
  createdAt: z.date(),
  usedAt: z.date(),
})
export type ToolVectorRow = z.infer<typeof toolVectorRow>
