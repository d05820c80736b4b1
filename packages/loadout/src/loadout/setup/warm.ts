/** Opens connections before the first call, introspects new toolkits, and lists open connections. */
import type { Catalog } from '../../catalog/catalog.ts'
import type { Connector } from '../../connections/connector.ts'
import { HostError } from '../../errors.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import type { Registry } from '../../toolkits/registry.ts'
import { isUnseen, type StoredToolkit } from '../../toolkits/stored-toolkit.ts'

export interface Warmed {
  id: string
  status: 'connected' | 'failed'
  reason?: string
  action?: string
}

/** A live connection. */
export interface LiveConnection {
  /** The toolkit's id. */
  toolkit: string
  uscoId: string
  /** Owner; null if all users share it. */
  userId: string | null
  since: Date
  /** Running calls. */
  calls: number
  tools: number
}

export interface WarmDeps {
  registry: Pick<Registry, 'list' | 'app' | 'offered'>
  connector: Connector
  catalog: Pick<Catalog, 'tools' | 'ephemeralTools' | 'introspect'>
}

const AT_ONCE = 8

/** Warms all enabled toolkits of a user; without a user, the shared ones of the app. */
export async function warm(deps: WarmDeps, userId: string | undefined): Promise<Warmed[]> {
  const { registry } = deps
  const toolkits =
    userId === undefined
      ? (await registry.app()).filter((stored) => stored.toolkit.shared)
      : await registry.list(userId)
  const queue = toolkits.filter((stored) => stored.enabled && stored.toolkit.server.type !== 'custom')
  const warmed: Warmed[] = []
  const next = async (): Promise<void> => {
    for (let stored = queue.shift(); stored; stored = queue.shift())
      warmed.push(await open(deps, stored, userId ?? APP_OWNER))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  return warmed
}

async function open({ connector, catalog }: WarmDeps, stored: StoredToolkit, userId: string): Promise<Warmed> {
  const { id } = stored.toolkit
  try {
    const connectMs = stored.toolkit.timeouts.connectMs
    await connector.use(stored, userId, { repeatable: true, connectMs, work: async () => {} })
    // Tools must be known before they can be called.
    if (isUnseen(stored) || stored.row.introspectionStatus === 'error') await catalog.introspect(stored, userId)
    return { id, status: 'connected' }
  } catch (error) {
    const { message: reason, action } = HostError.from(error)
    return { id, status: 'failed', reason, action }
  }
}

/** Open connections with owner, start time and number of tools. */
export async function liveConnections({ registry, connector, catalog }: WarmDeps): Promise<LiveConnection[]> {
  const toolsOf = async (userId: string, uscoId: string) => {
    const offered = userId === APP_OWNER ? undefined : await registry.offered(userId)
    const toolkits = offered ? [...offered.visible, ...offered.hidden] : await registry.app()
    const stored = toolkits.find((stored) => stored.uscoId === uscoId)
    const tools = stored
      ? ((await catalog.tools(userId, [stored])).get(uscoId) ?? [])
      : (catalog.ephemeralTools(uscoId) ?? [])
    return tools.filter((tool) => tool.inactive === undefined).length
  }
  return Promise.all(
    connector.status().map(async ({ key, toolkit, openedAt, leases }) => ({
      toolkit,
      uscoId: key.toolkit,
      userId: key.userId,
      since: openedAt,
      calls: leases,
      tools: await toolsOf(key.userId ?? APP_OWNER, key.toolkit),
    })),
  )
}
