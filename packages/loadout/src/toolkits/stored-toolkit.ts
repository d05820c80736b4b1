import { HostError } from '../errors.ts'
import type { AppConfig } from '../schema/app-config.ts'
import { compileGlob } from '../schema/glob.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Tier } from '../schema/scope.ts'
import type { ActivationRow } from '../schema/toolkit/activation.ts'
import type { UserServerConfigRow } from '../schema/toolkit/catalog.ts'
import { configTypeOf, type Server } from '../schema/toolkit/server.ts'
import { type Toolkit, type ToolkitOptions, toolkitOptions } from '../schema/toolkit/toolkit.ts'
import { type LastFailure, lastFailureOf } from './last-failure.ts'

/** A toolkit with its place: whose it is, at which tier, and since when. Its secrets are placeholders. */
export interface StoredToolkit {
  uscoId: string
  /** Whose: a user, or the app (''). */
  userId: string
  tier: Extract<Tier, 'app' | 'user' | 'call'>
  toolkit: Toolkit
  row: UserServerConfigRow
  /** Why the last refresh of its tools failed, where it did. */
  lastFailure?: LastFailure | undefined
  /** For an app toolkit seen by a user: what that user switched. Else as the toolkit says. */
  enabled: boolean
  /** Not stored: its secrets, and the transport that the app built for it, are in this process alone. */
  ephemeral?: { secrets(): Readonly<Record<string, string>>; transport?: () => unknown }
  /** The tier of the toolkit that this one hides. */
  shadows?: Tier
}

/** Whether nobody looked at its server yet, as it is now: what is known of it, if anything, is of another. */
export const isUnseen = ({ row, toolkit, ephemeral }: StoredToolkit): boolean =>
  row.introspectedAt === null && !toolkit.tools && !ephemeral

export function fromRow(row: UserServerConfigRow): StoredToolkit {
  const { slug: id, name, enabled } = row
  const options = toolkitOptions.parse(row.optionsJson)
  // The row was checked when it was written; the server's own schema ran then.
  const toolkit: Toolkit = { id, name, enabled, server: row.configJson as unknown as Server, ...options }
  return {
    uscoId: row.uscoId,
    userId: row.userId,
    tier: row.userId === APP_OWNER ? 'app' : 'user',
    toolkit,
    row,
    lastFailure: lastFailureOf(row),
    enabled,
  }
}

/** The columns that a toolkit fills. */
export function toColumns(toolkit: Toolkit, serverId: string | null) {
  return {
    slug: toolkit.id,
    name: toolkit.name,
    enabled: toolkit.enabled,
    serverId,
    configType: configTypeOf(toolkit.server, serverId),
    configJson: toolkit.server as unknown as JsonObject,
    optionsJson: optionsOf(toolkit) as unknown as JsonObject,
  }
}

export function optionsOf({
  id: _id,
  name: _name,
  enabled: _enabled,
  server: _server,
  ...options
}: Toolkit): ToolkitOptions {
  return options
}

/** What is switched off is not connected to, whoever asks. */
export function assertEnabled(stored: StoredToolkit): StoredToolkit {
  if (stored.enabled) return stored
  const detail = `The toolkit "${stored.toolkit.id}" is switched off.`
  throw new HostError('not-carried', { detail, action: 'Switch it on first.' })
}

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
  const ownToolkits = own
    .map(fromRow)
    .map((stored) => (appIds.has(stored.toolkit.id) ? { ...stored, shadows: 'app' as const } : stored))
  const ownIds = new Set(ownToolkits.map((stored) => stored.toolkit.id))
  const disabledRefs = new Set(switches.filter((row) => !row.on).map((row) => row.ref))
  // A user may switch the app's toolkit off; one that the operator switched off stays off.
  const switched = app.map((stored) => (disabledRefs.has(stored.toolkit.id) ? { ...stored, enabled: false } : stored))
  return {
    visible: [...ownToolkits, ...switched.filter((stored) => !ownIds.has(stored.toolkit.id))],
    hidden: switched.filter((stored) => ownIds.has(stored.toolkit.id)),
  }
}

/** Whether a server's word counts. Who does not trust wins: the operator, or the toolkit's own record. */
export function isTrusted({ toolkit, tier }: Pick<StoredToolkit, 'toolkit' | 'tier'>, { trust }: AppConfig): boolean {
  if (toolkit.untrusted || (tier !== 'app' && !trust.userToolkits)) return false
  return !trust.untrusted.some((glob) => compileGlob(glob).matches(toolkit.id))
}
