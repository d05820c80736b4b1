import { z } from 'zod'
import { userId } from '../ids.ts'

const count = z.number().int().min(0)

/** A section of a stored result and its position in the text. */
export const resultSection = z.strictObject({
  /** Kind of the content block, or `structuredContent`. */
  what: z.string().max(100),
  firstCharacter: count,
  characters: count,
  /** Counted from 1. */
  firstLine: count,
  lines: count,
  isJson: z.boolean(),
  /** When the structured content repeats the text: the name of its only field. */
  field: z.string().optional(),
})
export type ResultSection = z.infer<typeof resultSection>

/** A result that is too large to return inline. Stored in chunks until `expiresAt`. */
export const resultRow = z.strictObject({
  resultId: z.string(),
  userId,
  callId: z.string(),
  ref: z.string(),
  bytes: count,
  characters: count,
  lines: count,
  chunks: count,
  isJson: z.boolean(),
  /** Sections of the text; empty when there is only one. */
  sectionsJson: z.array(resultSection),
  expiresAt: z.date(),
  createdAt: z.date(),
})
export type ResultRow = z.infer<typeof resultRow>

export const resultChunkRow = z.strictObject({
  chunkId: z.string(),
  userId,
  resultId: z.string(),
  seq: count,
  /** Characters and line breaks before this chunk. */
  firstCharacter: count,
  firstLine: count,
  text: z.string(),
})
export type ResultChunkRow = z.infer<typeof resultChunkRow>
