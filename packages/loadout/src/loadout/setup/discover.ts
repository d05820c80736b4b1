/** A look at a server without registering it: the same doors, nothing stored, and nothing left open. */
import type { Catalog } from '../../catalog/catalog.ts'
import type { Connector } from '../../connections/connector.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import { readToolkit } from '../../schema/read/read-toolkit.ts'
import type { ToolManifest } from '../../schema/toolkit/tool.ts'
import { createEphemeralToolkit } from '../../toolkits/ephemeral-toolkit.ts'

export interface DiscoverOptions {
  /** On whose behalf. Without one it is the app's own look, and the app's rules for servers hold. */
  userId?: string
  /** A transport that the app built, in place of the record's server. */
  transport?: () => unknown
}

export interface Discovered {
  tools: ToolManifest[]
  /** Tools that cannot be used, and why. */
  setAside: Array<{ name: string; reason: string }>
  /** What in the record was not understood. */
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
  // Named apart from every other look, so that closing this one closes nobody's.
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
