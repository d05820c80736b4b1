import { z } from 'zod'
import { json } from '../json.ts'
import { activationRef } from '../toolkit/activation.ts'

/** A program that a provider runs, as reported in its response. */
export const providerProgram = z.strictObject({
  provider: z.enum(['anthropic', 'openai']),
  /** Provider's id of the program; its calls refer to it. */
  id: z.string().min(1).max(500),
  code: z.string().max(1_000_000).optional(),
  /** `running` until the response contains a result. */
  status: z.enum(['running', 'completed', 'failed']),
  /** Program output, which the model reads. */
  output: z.string().max(1_000_000).optional(),
  /** Failure reason. */
  error: z.string().max(10_000).optional(),
})
export type ProviderProgram = z.infer<typeof providerProgram>

export const providerPrograms = z.array(providerProgram).max(1000)

const count = (max: number) => z.number().int().min(1).max(max)

/** Limits that a caller may request; the operator's limits cap them. */
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
  /** Value of `input` in the program. */
  input: json.optional(),
  limits: programLimits.optional(),
  /** Refs of the thread's loadout that the program may or may not call. */
  only: z.array(activationRef).max(1000).optional(),
  except: z.array(activationRef).max(1000).optional(),
})
export type ProgramInput = z.infer<typeof programInput>
