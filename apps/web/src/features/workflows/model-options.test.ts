import { expect, it } from 'vitest'
import { modelOptions } from './model-options.ts'

it('offers what can be asked, once, the operator’s first', () => {
  const providers = [
    { provider: 'anthropic' as const, key: 'user' as const },
    { provider: 'openai' as const, key: 'app' as const },
    { provider: 'google' as const, key: 'none' as const },
  ]
  const names = (models: Parameters<typeof modelOptions>[0], others: string[]) =>
    modelOptions(models, others).map(({ model }) => model)
  expect(names({ model: 'openai:gpt-5.6', providers }, ['openai:gpt-5.6', 'anthropic:claude-opus-5-5'])).toEqual([
    ...['openai:gpt-5.6', 'anthropic:claude-opus-5-5', 'anthropic:', 'openai:'],
  ])
  expect(names({ providers: [] }, [''])).toEqual([])
})
