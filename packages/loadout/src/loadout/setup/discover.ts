/** Introspects a server without registering it. It uses the same guards, stores nothing and closes its connections. */
import type { Catalog } from '../../catalog/catalog.ts'
import type { Connector } from '../../connections/connector.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import { readToolkit } from '../../schema/read/read-toolkit.ts'
import type { ToolManifest } from '../../schema/toolkit/tool.ts'
import { createEphemeralToolkit } from '../../toolkits/ephemeral-toolkit.ts'

export interface DiscoverOptions {
  /** Acting user. Without one, the app discovers under its own server rules. */
  userId?: string
  /** Custom transport that replaces the record's server. */
  transport?: () => unknown
}

export interface Discovered {
  tools: ToolManifest[]
  /** Invalid tools with the reason. */
  setAside: Array<{ name: string; reason: string }>
  /** Warnings about unknown parts of the record. */
  warnings: string[]
}

export async function discover(
  { catalog, connector }: { catalog: Catalog; connector: Connector },
  record: unknown,
  { userId, transport }: DiscoverOptions,
): Promise<Discovered> {
  const { toolkit, warnings } = readToolkit(record, { id: 'discovered', name: 'discovered' })
  const owner = userId ?? APP_OWNER
  const tier = userId === undefined ? 'app' : 'call'
  // A unique account, so that closing it closes no other connection.
  const own = { ...toolkit, account: crypto.randomUUID() }
  const stored = await createEphemeralToolkit(own, { userId: owner, tier, transport })
  try {
    const tools = await catalog.introspect(stored, owner)
    const catalogTools = (await catalog.tools(owner, [stored])).get(stored.uscoId) ?? []
    const setAside = catalogTools.flatMap(({ manifest, inactive }) =>
      inactive === undefined ? [] : [{ name: manifest.name, reason: inactive }],
    )
    return { tools, setAside, warnings }
  } finally {
    await connector.retire(stored.uscoId)
  }
}
