import { expect, it } from 'vitest'
import type { Models } from '../queries.ts'
import { namesOf, wholeNames } from './model-names.ts'

const models: Models = {
  model: 'openai:gpt-5.6',
  providers: [
    { provider: 'anthropic', key: 'user', models: ['anthropic:*'] },
    { provider: 'openai', key: 'app', models: ['openai:gpt-5.6', 'openai:gpt-5.6-mini', 'openai:o{3,4}-*'] },
    { provider: 'google', key: 'none', models: [] },
  ],
}

it('the model suggestions list each name once, the operator’s first, and the prefixes of globs', () => {
  expect(wholeNames(models)).toEqual(['openai:gpt-5.6', 'openai:gpt-5.6-mini', 'anthropic:', 'openai:o'])
  expect(namesOf(models, 'openai')).toEqual(['gpt-5.6', 'gpt-5.6-mini', 'o'])
  expect(namesOf(models, 'anthropic')).toEqual([])
  expect(wholeNames({ providers: [] })).toEqual([])
})
