import { z } from 'zod'

/** How often a model may be asked for one answer. */
export const stepLimit = z.number().int().min(1).max(100)
/** Tokens of one answer in all, of what the model is sent and of what it says. */
export const tokenBudget = z.number().int().min(1).max(100_000_000)
