import { z } from 'zod'
import { json } from '../json.ts'
import { activationRef } from '../toolkit/activation.ts'

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

const count = (max: number) => z.number().int().min(1).max(max)

/** What a caller may ask of a program's limits; the operator's are above them. */
export const programLimits = z
  .strictObject({
    memoryBytes: count(1024 ** 3),
    cpuMs: count(600_000),
    wallMs: count(3_600_000),
    calls: count(100_000),
    parallelCalls: count(10_000),
    logBytes: count(16 * 1024 ** 2),
    resultBytes: count(16 * 1024 ** 2),
    argumentBytes: count(16 * 1024 ** 2),
    argumentValues: count(1_000_000),
  })
  .partial()

export const programInput = z.strictObject({
  program: z.string().min(1, 'must not be empty').max(1_000_000),
  language: z.enum(['javascript', 'typescript']).optional(),
  /** What the program reads as `input`. */
  input: json.optional(),
  limits: programLimits.optional(),
  /** What it leaves away of what the thread carries. */
  only: z.array(activationRef).max(1000).optional(),
  except: z.array(activationRef).max(1000).optional(),
})
export type ProgramInput = z.infer<typeof programInput>
