import { expect, it } from 'vitest'
import { createServices } from '../../host/create-services.ts'
import { defineTool } from '../../toolkits/define-tool.ts'
import { budgetOf } from './budget.ts'

const PRICES = { 'openai:gpt-5-mini': 0.5, 'openai:*': 2, 'free:*': 0 }

it('budgetOf converts a cost limit to tokens by the given price or the model price', () => {
  expect(budgetOf({ maxTokens: 7 })).toBe(7)
  expect(budgetOf({ costLimit: 0.001, pricePerMillion: 5, model: 'openai:gpt-5' }, PRICES)).toBe(200)
  expect(budgetOf({ costLimit: 0.001, model: 'openai:gpt-5' }, PRICES)).toBe(500)
  expect(budgetOf({ costLimit: 0.001, model: 'openai:gpt-5-mini' }, PRICES)).toBe(2000)
  expect(budgetOf({ costLimit: 0.001, maxTokens: 100, model: 'openai:gpt-5' }, PRICES)).toBe(100)
})

it.each([undefined, 'anthropic:x', 'free:x'])(
  'a cost limit without a known price (%s) is rejected at its field',
  (model) => {
    expect(() => budgetOf({ costLimit: 1, model }, PRICES)).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        errors: [expect.objectContaining({ path: 'pricePerMillion' })],
      }),
    )
  },
)

it('a host uses the prices that its app sets', async () => {
  const tools = ['one', 'two', 'three'].map((name) =>
    defineTool({ name, description: `Counts to ${name}, and says every number on the way.`, execute: () => 1 }),
  )
  await using host = createServices({ tools, search: { prices: PRICES } })
  const { tokens } = await host
    .thread({ userId: 'ann', threadId: 't' })
    .select({ prompt: 'count to two', model: 'openai:gpt-5', costLimit: 0.0001 })
  expect(tokens.before).toBeGreaterThan(50)
  expect(tokens.after).toBeLessThanOrEqual(50)
})
