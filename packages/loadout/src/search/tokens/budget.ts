/** Token budget of a selection: set directly, or computed from a cost limit and a price per million tokens. */
import type { z } from 'zod'
import { compileGlob } from '../../schema/glob.ts'
import { invalidFields } from '../../schema/json.ts'
import type { resolveInput } from '../../schema/toolkit/selection.ts'

/**
 * Price per million tokens by model, in the currency of `costLimit`: `{ 'anthropic:claude-opus-*': 5 }`. The first
 * match applies.
 */
export type Prices = Readonly<Record<string, number>>

type BudgetInput = Pick<z.output<typeof resolveInput>, 'maxTokens' | 'costLimit' | 'pricePerMillion' | 'model'>

export function budgetOf({ maxTokens, costLimit, ...input }: BudgetInput, prices: Prices = {}): number | undefined {
  if (costLimit === undefined) return maxTokens
  const price = input.pricePerMillion ?? priceOf(input.model, prices)
  if (price === undefined)
    throw invalidFields([
      { path: 'pricePerMillion', message: 'is needed with "costLimit": no price of the model is known' },
    ])
  return Math.min(maxTokens ?? Number.POSITIVE_INFINITY, Math.floor((costLimit / price) * 1_000_000))
}

function priceOf(model: string | undefined, prices: Prices): number | undefined {
  if (model === undefined) return undefined
  return Object.entries(prices).find(([pattern, price]) => price > 0 && compileGlob(pattern).matches(model))?.[1]
}
