/** Stores each user's preferences in one row. */
import type { Emitter } from '../events.ts'
import { parse } from '../schema/json.ts'
import { type Preferences, preferences, preferencesPatch } from '../schema/records/preferences.ts'
import type { ReadCache, Storage, Transaction } from '../storage/storage.ts'

// The key is (user, ID), so all users share one ID.
const ROW_ID = 'preferences'
const LIST_LIMIT = 100_000

export interface PreferenceStore {
  get(userId: string): Promise<Preferences>
  /** Changes the given fields and keeps the others. A limit of null is removed. */
  update(userId: string, patch: unknown): Promise<Preferences>
}

export function createPreferences(deps: { storage: Storage; cache: ReadCache; events: Emitter }): PreferenceStore {
  const { storage, cache, events } = deps
  return {
    get(userId) {
      return cache.read({ userId, name: 'preferences' }, ['preferences'], () =>
        storage.transaction({ userId }, async (tx) => {
          const row = await tx.get('preferences', ROW_ID)
          return Object.freeze(preferences.parse(row?.valueJson ?? {}))
        }),
      )
    },
    async update(userId, input) {
      const patch = parse(preferencesPatch, input)
      const value = await storage.transaction({ userId }, async (tx) => {
        const row = await tx.get('preferences', ROW_ID)
        const before = preferences.parse(row?.valueJson ?? {})
        const limits = patch.costLimits === null ? {} : { ...before.costLimits, ...withoutUndefined(patch.costLimits) }
        const costLimits = withoutNull(limits)
        const next = preferences.parse({ ...withoutNull({ ...before, ...withoutUndefined(patch) }), costLimits })
        if (row) await tx.update('preferences', ROW_ID, { set: { valueJson: next, updatedAt: new Date() } })
        else await tx.insert('preferences', { preferencesId: ROW_ID, userId, valueJson: next, updatedAt: new Date() })
        if (!next.learnFromUse) await forgetUses(tx, userId)
        return next
      })
      events.emit({ type: 'preferences-changed', userId, fields: Object.keys(withoutUndefined(patch)) })
      return value
    },
  }
}

/** Deletes the usage history as soon as the user turns learning off. */
async function forgetUses(tx: Transaction, userId: string): Promise<void> {
  for (const row of await tx.list('toolUses', { where: { userId }, limit: LIST_LIMIT }))
    await tx.delete('toolUses', row.toolUseId)
}

const withoutUndefined = (record: Record<string, unknown> = {}) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))

const withoutNull = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
