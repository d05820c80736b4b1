import { z } from 'zod'

/** A program that a provider runs, as a response of it tells. */
export const providerProgram = z.strictObject({
  provider: z.enum(['anthropic', 'openai']),
  /** The provider's own id of it, which its calls carry. */
  id: z.string().min(1).max(500),
  code: z.string().max(1_000_000).optional(),
  /** Running until its result is there. */
  status: z.enum(['running', 'completed', 'failed']),
  /** What it gave, which is what the model reads. */
  output: z.string().max(1_000_000).optional(),
  /** Why it failed. */
  error: z.string().max(10_000).optional(),
})
export type ProviderProgram = z.infer<typeof providerProgram>

export const providerPrograms = z.array(providerProgram).max(1000)
