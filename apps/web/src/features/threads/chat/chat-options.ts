/** How a model is asked in this browser: by which name, and within what. What is not given is as the server has it. */
export interface ChatOptions {
  /** Undefined is the operator's. */
  model?: string | undefined
  /** Whether it may write programs that call tools. */
  programs?: boolean | undefined
  /** Questions to the model for one answer. */
  maxSteps?: number | undefined
  /** Tokens of one answer, of what the model is sent and of what it says. */
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

/** What was kept may be anything by now: what the server would refuse is not there. */
export function readOptions(text: string | null): ChatOptions {
  let stored: unknown
  try {
    stored = JSON.parse(text ?? '{}')
  } catch {
    // What was kept before was the name alone.
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
