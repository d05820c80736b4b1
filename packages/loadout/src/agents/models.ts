/**
 * Models by configuration: `provider:model`. The user's key takes precedence over the app's and the operator's; it is
 * decrypted per use and passed only to the provider package. Users with their own key may use any model, others those
 * on the operator's list. The environment is never read. Requests go through the host's drivers, and tokens count
 * toward the user's daily limit.
 */
import type { LanguageModel } from 'ai'
import { z } from 'zod'
import type { CredentialStore } from '../credentials/credential-store.ts'
import { HostError } from '../errors.ts'
import { type HostLike, toServices } from '../host/to-services.ts'
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

/** Parts of a host that models use. */
export interface ModelServices {
  credentials: Pick<CredentialStore, 'open' | 'save' | 'clear' | 'fields'>
  storage: Storage
  /** Fetch of the host. @default fetch */
  fetchFor?: ((tier: Tier) => Fetch) | undefined
  /** App config of the host, which lowers the ceiling. @default none */
  app?: { get(): Promise<Pick<AppConfig, 'limits'>> } | undefined
  /** Token meters of the host. @default not counted */
  tokens?: TokenMeters | undefined
}

export interface ModelSettings {
  /** Default model as `provider:model`. */
  model?: string | undefined
  /** Models that the app's keys are for, besides `model`, with globs: `anthropic:claude-*`. @default none */
  appModels?: readonly string[] | undefined
  /** Base URLs that differ from the provider's. `openai-compatible` requires one. */
  baseUrls?: Partial<Record<ModelProvider, string>> | undefined
  /** Operator keys, for users without their own. */
  keys?: Partial<Record<ModelProvider, string>> | undefined
  /**
   * The party that configured the addresses. With `user`, addresses that the host blocks for users are rejected. @default 'app'
   */
  addressesBy?: 'app' | 'user' | undefined
  /** Upper limits per answer. @default the app config */
  ceiling?: ResponseLimits | undefined
}

export type ModelsOptions = ModelSettings & (ModelServices | { host: HostLike<ModelServices> })

/** A model for one user. */
export interface OpenModel {
  model: LanguageModel
  provider: ModelProvider
  /** `provider:model`. */
  name: string
  /** Values to redact in its errors. */
  secrets: readonly string[]
  /** Remaining tokens of the user. The model checks them itself; step loops can stop earlier. */
  tokens?: TokenMeter | undefined
  /** Limits per answer. */
  ceiling: ResponseLimits
}

export interface Models {
  /** Default model. */
  readonly model: string | undefined
  /**
   * Opens a model. `model-unavailable` says what is missing: a name, a package, an address, a key, or a listed model.
   */
  open(userId: string, name?: string, scope?: { threadId?: string | undefined }): Promise<OpenModel>
  /** Current limits per answer. */
  ceiling(): Promise<ResponseLimits>
  /** Owner of the key per provider. Never returns a key. */
  keys(userId: string): Promise<Record<ModelProvider, 'user' | 'app' | 'none'>>
  /** Models that the user may use, by provider: names and globs. Empty without a usable key. */
  names(userId: string): Promise<Record<ModelProvider, string[]>>
  /** For a user, or for the app with `APP_OWNER`. */
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

/**
 * Creates the models of a host.
 * @example const models = createModels({ host, model: 'anthropic:claude-opus-5-5' })
 */
export function createModels(options: ModelsOptions): Models {
  const { model, baseUrls = {}, keys = {}, addressesBy = 'app' } = options
  const services = 'host' in options ? toServices(options.host) : options
  const { credentials, storage, app } = services
  const ceiling = () => resolveCeiling(options.ceiling, app)
  const fetch = modelFetch(services.fetchFor?.(addressesBy))
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
    ceiling,
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
      const opened = { provider, name, secrets, ceiling: await ceiling() }
      const tokens = services.tokens?.({ userId, threadId })
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

/** The lower of the option and the app config. */
async function resolveCeiling(ceiling: ResponseLimits | undefined, app: ModelServices['app']): Promise<ResponseLimits> {
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
