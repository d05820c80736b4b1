import { z } from 'zod'
import { userId } from './ids.ts'

/** A result that was too large to hand on as it is. Kept for a while, in pieces. */
export const resultRow = z.strictObject({
  resultId: z.string(),
  userId,
  callId: z.string(),
  ref: z.string(),
  bytes: z.number().int().min(0),
  characters: z.number().int().min(0),
  lines: z.number().int().min(0),
  chunks: z.number().int().min(0),
  isJson: z.boolean(),
  expiresAt: z.date(),
  createdAt: z.date(),
})
export type ResultRow = z.infer<typeof resultRow>

export const resultChunkRow = z.strictObject({
  chunkId: z.string(),
  userId,
  resultId: z.string(),
  seq: z.number().int().min(0),
  /** How many characters and line ends come before it. */
  firstCharacter: z.number().int().min(0),
  firstLine: z.number().int().min(0),
  text: z.string(),
})
export type ResultChunkRow = z.infer<typeof resultChunkRow>
