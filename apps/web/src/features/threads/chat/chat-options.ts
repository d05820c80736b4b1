/** Model and limits of the chat in this browser. Undefined values use the server's defaults. */
export interface ChatOptions {
  /** Undefined uses the operator's model. */
  model?: string | undefined
  /** Whether the model may write programs that call tools. */
  programs?: boolean | undefined
  /** Max model steps per response. */
  maxSteps?: number | undefined
  /** Max input and output tokens per response. */
  budget?: number | undefined
}

export const MAX_STEPS = 100
const MAX_BUDGET = 100_000_000

const isCount = (value: unknown, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max

export const stepsProblem = (value: number | undefined): string | undefined =>
  value === undefined || isCount(value, MAX_STEPS) ? undefined : `A whole number from 1 to ${MAX_STEPS}.`

export const budgetProblem = (value: number | undefined): string | undefined =>
  value === undefined || isCount(value, MAX_BUDGET) ? undefined : 'A whole number from 1 to 100,000,000.'

/** Reads stored options and drops values that the server would refuse. */
export function readOptions(text: string | null): ChatOptions {
  let stored: unknown
  try {
    stored = JSON.parse(text ?? '{}')
  } catch {
    // Earlier versions stored only the model name.
    stored = { model: text }
  }
  if (typeof stored !== 'object' || stored === null) return {}
  const { model, programs, maxSteps, budget } = stored as Record<string, unknown>
  return {
    ...(typeof model === 'string' && /^[a-z-]+:\S{1,290}$/.test(model) ? { model } : {}),
    ...(programs === true ? { programs } : {}),
    ...(isCount(maxSteps, MAX_STEPS) ? { maxSteps } : {}),
    ...(isCount(budget, MAX_BUDGET) ? { budget } : {}),
  }
}
