import type { ActivationRow } from '../schema/activation.ts'
import type { UserServerConfigRow } from '../schema/catalog.ts'
import { fromRow, type StoredToolkit } from './stored-toolkit.ts'

/** What a user has: their own toolkits first, then the app's that none of theirs hides, with their own switches. */
export function visibleTo(rows: readonly UserServerConfigRow[], switches: readonly ActivationRow[]): StoredToolkit[] {
  const all = rows.map(fromRow)
  const own = all.filter((stored) => stored.tier === 'user')
  const ownIds = new Set(own.map((stored) => stored.toolkit.id))
  const switched = new Map(switches.map((row) => [row.ref, row.on]))
  const appIds = new Set<string>()
  const app = all.filter((stored) => stored.tier === 'app')
  for (const stored of app) appIds.add(stored.toolkit.id)
  return [
    ...own.map((stored) => (appIds.has(stored.toolkit.id) ? { ...stored, shadows: 'app' as const } : stored)),
    ...app
      .filter((stored) => !ownIds.has(stored.toolkit.id))
      // A user may switch the app's toolkit off; one that the operator switched off stays off.
      .map((stored) => ({ ...stored, enabled: stored.enabled && (switched.get(stored.toolkit.id) ?? true) })),
  ]
}
