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

/** A toolkit with its owner, tier and row. Its secrets are placeholders. */
export interface StoredToolkit {
  uscoId: string
  /** A user, or the app (''). */
  userId: string
  tier: Extract<Tier, 'app' | 'user' | 'call'>
  toolkit: Toolkit
  row: UserServerConfigRow
  /** Failure of the last discovery, if it failed. */
  lastFailure?: LastFailure | undefined
  /** For an app toolkit of a user: that user's switch. Else as in the record. */
  enabled: boolean
  /** Not stored: its secrets, and the transport that the app built, exist only in this process. */
  ephemeral?: { secrets(): Readonly<Record<string, string>>; transport?: () => unknown }
  /** Tier of the toolkit that this one shadows. */
  shadows?: Tier
}

/** Whether the current server was never discovered; existing tools belong to a previous one. */
export const isUnseen = ({ row, toolkit, ephemeral }: StoredToolkit): boolean =>
  row.introspectedAt === null && !toolkit.tools && !ephemeral

export function fromRow(row: UserServerConfigRow): StoredToolkit {
  const { slug: id, name, enabled } = row
  const options = toolkitOptions.parse(row.optionsJson)
  // The row was validated by the server schema when it was written.
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

/** Columns of a toolkit row. */
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

/** A toolkit that is turned off is never connected to. */
export function assertEnabled(stored: StoredToolkit): StoredToolkit {
  if (stored.enabled) return stored
  const detail = `The toolkit "${stored.toolkit.id}" is switched off.`
  throw new HostError('not-carried', { detail, action: 'Switch it on first.' })
}

export interface Visible {
  /** The user's own toolkits, then app toolkits that none of them shadows. */
  visible: readonly StoredToolkit[]
  /** App toolkits that the user's own shadow. */
  hidden: readonly StoredToolkit[]
}

/** Toolkits of a user, with their switches for app toolkits. App toolkits are shared objects. */
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
  // A user may turn an app toolkit off, but not on when the operator turned it off.
  const switched = app.map((stored) => (disabledRefs.has(stored.toolkit.id) ? { ...stored, enabled: false } : stored))
  return {
    visible: [...ownToolkits, ...switched.filter((stored) => !ownIds.has(stored.toolkit.id))],
    hidden: switched.filter((stored) => ownIds.has(stored.toolkit.id)),
  }
}

/** Whether a server's annotations are trusted. Distrust by operator or toolkit wins. */
export function isTrusted({ toolkit, tier }: Pick<StoredToolkit, 'toolkit' | 'tier'>, { trust }: AppConfig): boolean {
  if (toolkit.untrusted || (tier !== 'app' && !trust.userToolkits)) return false
  return !trust.untrusted.some((glob) => compileGlob(glob).matches(toolkit.id))
}
