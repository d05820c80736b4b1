import type { ActivationRow } from '../schema/activation.ts'
import type { UserServerConfigRow } from '../schema/catalog.ts'
import { fromRow, type StoredToolkit } from './stored-toolkit.ts'

export interface Visible {
  /** A user's own toolkits first, then the app's that none of theirs hides. */
  visible: readonly StoredToolkit[]
  /** The app's that the user's own hide. */
  hidden: readonly StoredToolkit[]
}

/** What a user has, with their own switches for what is the app's. The app's toolkits are shared by all users as they are. */
export function visibleTo(
  own: readonly UserServerConfigRow[],
  app: readonly StoredToolkit[],
  switches: readonly ActivationRow[],
): Visible {
  const appIds = new Set(app.map((stored) => stored.toolkit.id))
  const mine = own
    .map(fromRow)
    .map((stored) => (appIds.has(stored.toolkit.id) ? { ...stored, shadows: 'app' as const } : stored))
  const mineIds = new Set(mine.map((stored) => stored.toolkit.id))
  const off = new Set(switches.filter((row) => !row.on).map((row) => row.ref))
  // A user may switch the app's toolkit off; one that the operator switched off stays off.
  const switched = app.map((stored) => (off.has(stored.toolkit.id) ? { ...stored, enabled: false } : stored))
  return {
    visible: [...mine, ...switched.filter((stored) => !mineIds.has(stored.toolkit.id))],
    hidden: switched.filter((stored) => mineIds.has(stored.toolkit.id)),
  }
}
