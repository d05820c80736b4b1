/**
 * Models by configuration: `provider:model`. A key is the user's own first, then the app's, then the operator's setting; it is
 * opened for one use, given to the provider's package, and told to nobody. With their own key users ask any model, with the app's
 * those that the operator lists. Nothing is read from the environment. What is sent leaves through the host's drivers, and what a
 * model uses counts into its user's tokens of the day.
 */
import type { LanguageModel } from 'ai'
import { z } from 'zod'
import type { CredentialStore } from '../credentials/credential-store.ts'
import { HostError } from '../errors.ts'
import type { TokenMeter, TokenMeters } from '../policy/limits/token-limits.ts'
import { least } from '../policy/limits/usage.ts'
import type { AppConfig } from '../schema/app-config.ts'
import { APP_OWNER } from '../schema/ids.ts'
import { parse } from '../schema/json.ts'
import type { Tier } from '../schema/scope.ts'
import type { Access, Storage } from '../storage/storage.ts'
import type { ResponseLimits } from './agent-settings.ts'
import { type Fetch, modelFetch } from './model-fetch.ts'
import { createModelList, modelName, modelPattern, readName } from './model-names.ts'
import { createProvider, MODEL_PROVIDERS, type ModelProvider } from './providers.ts'

export { MODEL_PROVIDERS, type ModelProvider, modelName, modelPattern }

export interface ModelsOptions {
  credentials: Pick<CredentialStore, 'open' | 'save' | 'clear' | 'fields'>
  storage: Storage
  /** The model where none is named, as `provider:model`. */
  model?: string | undefined
  /** Models that the app's keys are for beside `model`, with globs: `anthropic:claude-*`. With their own key users ask any. @default none */
  appModels?: readonly string[] | undefined
  /** Where a provider is, where that is not its own address. `openai-compatible` has none of its own. */
  baseUrls?: Partial<Record<ModelProvider, string>> | undefined
  /** The operator's keys, for all users who have none. */
  keys?: Partial<Record<ModelProvider, string>> | undefined
  /** Whose word the addresses are. With `user`, those that the host keeps users from are refused. @default 'app' */
  addressesBy?: 'app' | 'user' | undefined
  /** How requests leave: the host's. @default fetch */
  fetchFor?: ((tier: Tier) => Fetch) | undefined
  /** What each answer may take at most. @default what the app's config says */
  ceiling?: ResponseLimits | undefined
  /** What holds for everyone, as operators store it: the host's. It tightens the ceiling. @default nothing */
  app?: { get(): Promise<Pick<AppConfig, 'limits'>> } | undefined
  /** What counts tokens, and says when there are none left: the host's. @default nobody counts */
  tokens?: TokenMeters | undefined
}

/** A model that can be asked, for one user. */
export interface OpenModel {
  model: LanguageModel
  provider: ModelProvider
  /** `provider:model`. */
  name: string
  /** What an error of it must not tell. */
  secrets: readonly string[]
  /** What is left of the tokens of who asks. The model asks it by itself; who goes by steps may end before it is refused. */
  tokens?: TokenMeter | undefined
  /** What one answer of it may take. */
  ceiling: ResponseLimits
}

export interface Models {
  /** The model where none is named. */
  readonly model: string | undefined
  /** `model-unavailable` says what is missing: a name, a package, an address or a key, or that the app's key is for others. */
  open(userId: string, name?: string, scope?: { threadId?: string | undefined }): Promise<OpenModel>
  /** What one answer may take at most, as it is now. */
  ceiling(): Promise<ResponseLimits>
  /** Which providers can be asked, and with whose key. No key is told. */
  keys(userId: string): Promise<Record<ModelProvider, 'user' | 'app' | 'none'>>
  /** What this user may ask, by provider: names and globs. Empty where there is no key, or none that is for any. */
  names(userId: string): Promise<Record<ModelProvider, string[]>>
  /** For a user, or with `APP_OWNER` for the app. */
  saveKey(owner: string, provider: ModelProvider, key: unknown): Promise<void>
  clearKey(owner: string, provider: ModelProvider): Promise<void>
}

const FIELD = 'apiKey'
const modelKey = z
  .string()
  .trim()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, 'must be a key: letters, digits and signs without spaces')

export function createModels(options: ModelsOptions): Models {
  const { credentials, storage, model, baseUrls = {}, keys = {}, addressesBy = 'app' } = options
  const fetch = modelFetch(options.fetchFor?.(addressesBy))
  const ownerOf = (userId: string, provider: ModelProvider) => ({ userId, toolkit: `model:${provider}` })
  const list = createModelList(model, options.appModels)
  const stored = async (owner: string, provider: ModelProvider) =>
    (await credentials.open(ownerOf(owner, provider), [FIELD]))[FIELD]
  const has = async (userId: string, provider: ModelProvider) =>
    (await storage.transaction(accessTo(userId), (tx) => credentials.fields(tx, ownerOf(userId, provider)))).length > 0

  const keysOf: Models['keys'] = async (userId) => {
    const entries = MODEL_PROVIDERS.map(async (provider) => {
      if (await has(userId, provider)) return [provider, 'user'] as const
      const hasAppKey = keys[provider] !== undefined || (await has(APP_OWNER, provider))
      return [provider, hasAppKey ? 'app' : 'none'] as const
    })
    return Object.fromEntries(await Promise.all(entries)) as Record<ModelProvider, 'user' | 'app' | 'none'>
  }

  return {
    model,
    keys: keysOf,
    ceiling: () => ceilingOf(options),
    async names(userId) {
      const keyOwners = await keysOf(userId)
      const namesFor = (provider: ModelProvider) => {
        const needsNone = provider === 'openai-compatible'
        if (needsNone && baseUrls[provider] === undefined) return []
        if (keyOwners[provider] === 'user') return [`${provider}:*`]
        return needsNone || keyOwners[provider] === 'app' ? list.listFor(provider) : []
      }
      return Object.fromEntries(MODEL_PROVIDERS.map((provider) => [provider, namesFor(provider)])) as Record<
        ModelProvider,
        string[]
      >
    },
    async open(userId, name = model, { threadId } = {}) {
      if (name === undefined) throw noModel()
      const [provider, id] = readName(name)
      const userKey = await stored(userId, provider)
      const apiKey = userKey ?? (await stored(APP_OWNER, provider)) ?? keys[provider]
      const baseUrl = baseUrls[provider]
      if (provider === 'openai-compatible' && baseUrl === undefined) throw noAddress()
      if (provider !== 'openai-compatible' && apiKey === undefined) throw noKey(provider)
      if (userKey === undefined) list.assertHas(name)
      const create = await createProvider(provider, { apiKey, baseUrl, fetch })
      const secrets = apiKey === undefined ? [] : [apiKey]
      const opened = { provider, name, secrets, ceiling: await ceilingOf(options) }
      const tokens = options.tokens?.({ userId, threadId })
      if (!tokens) return { ...opened, model: create(id) }
      const { metered } = await import('./metered-model.ts')
      return { ...opened, model: metered(create(id), tokens), tokens }
    },
    async saveKey(owner, provider, key) {
      const secret = parse(modelKey, key, ['key'])
      await storage.transaction(writeTo(owner), (tx) =>
        credentials.save(tx, ownerOf(owner, provider), { [FIELD]: secret }),
      )
    },
    clearKey: (owner, provider) =>
      storage.transaction(writeTo(owner), (tx) => credentials.clear(tx, ownerOf(owner, provider))),
  }
}

/** The least of what whoever makes the models says, and of what operators store. */
async function ceilingOf({ ceiling, app }: ModelsOptions): Promise<ResponseLimits> {
  const { limits } = (await app?.get()) ?? {}
  return {
    maxSteps: least(ceiling?.maxSteps, limits?.maxStepsPerAnswer),
    budget: least(ceiling?.budget, limits?.maxTokensPerAnswer),
  }
}

const accessTo = (userId: string): Access =>
  userId === APP_OWNER ? { caller: 'app-credentials', userId: APP_OWNER } : { userId }
const writeTo = (userId: string): Access =>
  userId === APP_OWNER ? { caller: 'app-config', userId: APP_OWNER } : { userId }

const noModel = () =>
  new HostError('model-unavailable', {
    detail: 'No model is named.',
    action: 'Name one as provider:model, or set LOADOUT_MODEL.',
  })
const noAddress = () =>
  new HostError('model-unavailable', {
    detail: "Where the models of 'openai-compatible' are is not known.",
    action: 'Set LOADOUT_MODEL_URL to the base URL of the API, or give `baseUrls`.',
  })
const noKey = (provider: ModelProvider) =>
  new HostError('model-unavailable', {
    detail: `There is no key for the models of '${provider}'.`,
    action: `Save one: PUT /api/models/${provider}/key, or ask the operator to set LOADOUT_MODEL_KEY.`,
  })
