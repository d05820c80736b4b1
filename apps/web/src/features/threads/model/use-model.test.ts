import { describe, expect, it } from 'vitest'
import type { Models } from '../queries.ts'
import { modelState } from './use-model.ts'

const models = (model: string | undefined, keys: Partial<Record<string, 'user' | 'app'>>): Models => ({
  ...(model === undefined ? {} : { model }),
  providers: (['anthropic', 'openai', 'google', 'openai-compatible'] as const).map((provider) => ({
    provider,
    key: keys[provider] ?? 'none',
    models: [],
  })),
})

describe('the selected model', () => {
  it('reports a missing model or key', () => {
    expect(modelState(models(undefined, {}), undefined)).toEqual({ status: 'missing', what: 'model' })
    expect(modelState(models('anthropic:a', {}), undefined)).toMatchObject({ what: 'key', provider: 'anthropic' })
  })

  it('is the chosen model before the default model', () => {
    expect(modelState(models('anthropic:a', { openai: 'user' }), 'openai:b')).toEqual({
      status: 'ready',
      model: 'openai:b',
    })
    expect(modelState(models('anthropic:a', { anthropic: 'app' }), undefined)).toEqual({
      status: 'ready',
      model: 'anthropic:a',
    })
    expect(modelState(models('anthropic:a', { anthropic: 'app' }), 'openai:b')).toMatchObject({ what: 'key' })
  })

  it('needs no key at another address', () => {
    expect(modelState(models('openai-compatible:q', {}), undefined)).toMatchObject({ status: 'ready' })
  })
})
