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

const isCount = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most

export const stepsProblem = (value: number | undefined): string | undefined =>
  value === undefined || isCount(value, MAX_STEPS) ? undefined : `A whole number from 1 to ${MAX_STEPS}.`

export const budgetProblem = (value: number | undefined): string | undefined =>
  value === undefined || isCount(value, MAX_BUDGET) ? undefined : 'A whole number from 1 to 100,000,000.'

/** What was kept may be anything by now: what the server would refuse is not there. */
export function readOptions(text: string | null): ChatOptions {
  let kept: unknown
  try {
    kept = JSON.parse(text ?? '{}')
  } catch {
    // What was kept before was the name alone.
    kept = { model: text }
  }
  if (typeof kept !== 'object' || kept === null) return {}
  const { model, programs, maxSteps, budget } = kept as Record<string, unknown>
  return {
    ...(typeof model === 'string' && /^[a-z-]+:\S{1,290}$/.test(model) ? { model } : {}),
    ...(programs === true ? { programs } : {}),
    ...(isCount(maxSteps, MAX_STEPS) ? { maxSteps } : {}),
    ...(isCount(budget, MAX_BUDGET) ? { budget } : {}),
  }
}
