import { z } from 'zod'
import { userId } from '../ids.ts'

const count = z.number().int().min(0)

/** One part of a result, and where it is in the text that was kept. */
export const resultSection = z.strictObject({
  /** The kind of its content block, or `structuredContent`. */
  what: z.string().max(100),
  firstCharacter: count,
  characters: count,
  /** Counted from 1. */
  firstLine: count,
  lines: count,
  isJson: z.boolean(),
  /** The structured content says the same again: it is an object of this one field, whose value is the text. */
  field: z.string().optional(),
})
export type ResultSection = z.infer<typeof resultSection>

/** A result that was too large to hand on as it is. Kept for a while, in pieces. */
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
  /** What is where; empty where it is one text. */
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
  /** How many characters and line ends come before it. */
  firstCharacter: count,
  firstLine: count,
  text: z.string(),
})
export type ResultChunkRow = z.infer<typeof resultChunkRow>
