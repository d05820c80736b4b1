/** Provider packages: optional peer dependencies, loaded on first use. */
import type { LanguageModel } from 'ai'
import { HostError } from '../errors.ts'
import type { ProviderFetch } from './model-fetch.ts'

export const MODEL_PROVIDERS = ['anthropic', 'openai', 'google', 'openai-compatible'] as const
export type ModelProvider = (typeof MODEL_PROVIDERS)[number]

export interface ProviderSettings {
  apiKey: string | undefined
  baseUrl: string | undefined
  /** @default the platform's */
  fetch?: ProviderFetch | undefined
}

/** Explicit, so that no package reads an address or a key from the environment. */
const ADDRESSES = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
} as const

type Create = (settings: { apiKey: string; baseURL: string; fetch?: ProviderFetch }) => (id: string) => LanguageModel

const PACKAGES: Readonly<Record<ModelProvider, { package: string; load: () => Promise<Create> }>> = {
  anthropic: {
    package: '@ai-sdk/anthropic',
    load: async () => (await import('@ai-sdk/anthropic')).createAnthropic,
  },
  openai: {
    package: '@ai-sdk/openai',
    load: async () => (await import('@ai-sdk/openai')).createOpenAI,
  },
  google: {
    package: '@ai-sdk/google',
    load: async () => (await import('@ai-sdk/google')).createGoogle,
  },
  'openai-compatible': {
    package: '@ai-sdk/openai-compatible',
    load: async () => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      // Self-hosted servers often need no key; without usage there is no budget.
      return ({ apiKey, ...settings }) =>
        createOpenAICompatible({
          name: 'openai-compatible',
          includeUsage: true,
          ...settings,
          ...(apiKey === '' ? {} : { apiKey }),
        })
    },
  },
}

export async function createProvider(
  provider: ModelProvider,
  { apiKey = '', baseUrl, fetch }: ProviderSettings,
): Promise<(id: string) => LanguageModel> {
  const { package: name, load } = PACKAGES[provider]
  const create = await load().catch((cause: unknown) => {
    throw new HostError('model-unavailable', {
      detail: `The models of '${provider}' need the package ${name}, which is not installed.`,
      action: `Install it: npm install ${name}`,
      cause,
    })
  })
  const baseURL = baseUrl ?? (provider === 'openai-compatible' ? '' : ADDRESSES[provider])
  return create({ apiKey, baseURL, ...(fetch ? { fetch } : {}) })
}
