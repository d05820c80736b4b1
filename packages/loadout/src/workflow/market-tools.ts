/** Tools of marketplace servers as the registry lists them (`mcp.tools`): known before anybody looked at the server itself. */
import type { JsonObject } from '../schema/json.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

/** What is known of a tool, wherever it is listed. */
export interface KnownTool {
  name: string
  inputSchema: JsonObject
}

export async function marketTools(
  storage: Storage,
  userId: string,
  toolkits: readonly StoredToolkit[],
): Promise<ReadonlyMap<string, readonly KnownTool[]>> {
  const listed = toolkits.filter(({ row }) => row.serverId !== null)
  if (listed.length === 0) return new Map()
  return storage.transaction({ userId }, async (tx) => {
    const found = new Map<string, readonly KnownTool[]>()
    for (const { uscoId, row } of listed) {
      const serverId = row.serverId as string
      const [version] = await tx.list('serverVersions', { where: { serverId, isLatest: true } })
      const tools = version ? await tx.list('tools', { where: { sverId: version.sverId } }) : []
      found.set(
        uscoId,
        tools.map(({ name, inputSchemaJson: inputSchema }) => ({ name, inputSchema })),
      )
    }
    return found
  })
}
