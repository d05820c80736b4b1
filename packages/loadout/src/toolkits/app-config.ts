/** App-wide configuration: operator values in storage, over those of `createHost`, over the defaults. */

import type { Emitter } from '../events.ts'
import {
  type AppConfig,
  type AppConfigInput,
  appConfig,
  appConfigPatch,
  DEFAULT_APP_CONFIG,
} from '../schema/app-config.ts'
import { APP_OWNER } from '../schema/ids.ts'
import { type JsonObject, parse } from '../schema/json.ts'
import type { ToolkitDefaults } from '../schema/toolkit/toolkit.ts'
import type { ReadCache, Storage } from '../storage/storage.ts'
import { retryOnConflict } from './toolkit-writer.ts'

export interface AppConfigStore {
  get(): Promise<AppConfig>
  /** Changes the given fields. Null removes a limit, or resets a required value. `by` is for the audit log. */
  update(patch: unknown, by?: { actor?: string | undefined }): Promise<AppConfig>
}

const ROW_ID = 'app'
const ACCESS = { caller: 'app-config', userId: APP_OWNER } as const

/** `base` comes from `createHost`; stored operator values take precedence. */
export function createAppConfig(
  { storage, cache, events }: { storage: Storage; cache: ReadCache; events?: Emitter | undefined },
  base: AppConfigInput = {},
): AppConfigStore {
  const resolveConfig = (stored: JsonObject): AppConfig =>
    parse(appConfig, applyPatch(applyPatch(DEFAULT_APP_CONFIG, base), appConfigPatch.parse(stored)))

  return {
    get: () =>
      cache.read({ userId: APP_OWNER, name: 'app-config' }, ['appConfig'], () =>
        storage.transaction(ACCESS, async (tx) =>
          Object.freeze(resolveConfig((await tx.get('appConfig', ROW_ID))?.valueJson ?? {})),
        ),
      ),
    async update(input, { actor } = {}) {
      const patch = parse(appConfigPatch, input)
      const updated = await retryOnConflict(() =>
        storage.transaction(ACCESS, async (tx) => {
          const row = await tx.get('appConfig', ROW_ID)
          const before = appConfigPatch.parse(row?.valueJson ?? {})
          const valueJson = mergeSections(before, patch)
          // Invalid combinations are rejected before they are stored.
          const config = resolveConfig(valueJson)
          if (row) await tx.update('appConfig', ROW_ID, { set: { valueJson, updatedAt: new Date() } })
          else await tx.insert('appConfig', { configId: ROW_ID, valueJson, updatedAt: new Date() })
          return config
        }),
      )
      const by = actor === undefined ? {} : { actor }
      events?.emit({ type: 'app-config-changed', userId: APP_OWNER, ...namesIn(patch), ...by })
      return updated
    },
  }
}

/** Names of changed sections and fields, without values. */
const namesIn = (patch: AppConfigInput) => ({
  sections: Object.keys(patch),
  fields: Object.entries(patch).flatMap(([section, values]) =>
    Object.keys(values ?? {}).map((field) => `${section}.${field}`),
  ),
})

const sectionsOf = (...configs: AppConfigInput[]) => new Set(configs.flatMap(Object.keys)) as Set<keyof AppConfigInput>

/** Merges section by section; `above` takes precedence. */
function mergeSections(below: AppConfigInput, above: AppConfigInput): JsonObject {
  return Object.fromEntries([...sectionsOf(below, above)].map((name) => [name, { ...below[name], ...above[name] }]))
}

/** Merges and applies null: removes the field, or keeps the value of `below` for required fields. */
function applyPatch(below: AppConfigInput, above: AppConfigInput): JsonObject {
  const section = (name: keyof AppConfigInput): JsonObject => {
    const result: JsonObject = { ...below[name] }
    for (const [field, value] of Object.entries(above[name] ?? {}))
      if (value !== null) result[field] = value
      else if (!(field in DEFAULT_APP_CONFIG[name])) delete result[field]
    return result
  }
  return Object.fromEntries([...sectionsOf(below, above)].map((name) => [name, section(name)]))
}

/** App defaults in the fields of a toolkit record. */
export function toolkitDefaults({ defaults }: AppConfig): ToolkitDefaults {
  const { deferLoading, enableProgrammaticCalling } = defaults
  return { deferLoading, ...(enableProgrammaticCalling ? {} : { allowedCallers: ['direct'] }) }
}
