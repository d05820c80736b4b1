import { HostError } from '../errors.ts'
import type { UserServerConfigRow } from '../schema/catalog.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Tier } from '../schema/scope.ts'
import { configTypeOf, type Server } from '../schema/server.ts'
import { type Toolkit, type ToolkitOptions, toolkitOptions } from '../schema/toolkit.ts'
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
  carried?: { secrets(): Readonly<Record<string, string>>; transport?: () => unknown }
  /** The tier of the toolkit that this one hides. */
  shadows?: Tier
}

/** Whether nobody looked at its server yet, as it is now: what is known of it, if anything, is of another. */
export const isUnseen = ({ row, toolkit, carried }: StoredToolkit): boolean =>
  row.introspectedAt === null && !toolkit.tools && !carried

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
