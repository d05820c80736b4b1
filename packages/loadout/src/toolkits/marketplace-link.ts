/** Which server of the marketplace a toolkit is. Told once, it stays so through later saves that say nothing of it. */
import { invalidFields } from '../schema/json.ts'
import { type ConfigType, configTypeOf, type Server } from '../schema/toolkit/server.ts'
import type { Transaction } from '../storage/storage.ts'

export interface MarketplaceLink {
  server: Server
  /** The server that is named; null takes the tie away. */
  serverId?: string | null | undefined
  /** What the caller says that the record is. */
  configType?: ConfigType | undefined
  /** The one that it was until now. */
  before?: string | null | undefined
}

/** Throws where no server of the marketplace has that id, and where the record is not what its caller says. */
export async function linkToMarketplace(tx: Transaction, link: MarketplaceLink): Promise<string | null> {
  const { server, serverId, configType } = link
  if (typeof serverId === 'string' && !(await tx.get('servers', serverId)))
    throw invalidFields([{ path: 'server_id', message: 'is no server of the marketplace; leave it out' }])
  const linkedId = serverId === undefined ? previousLink(link) : serverId
  const found = configTypeOf(server, linkedId)
  if (configType !== undefined && configType !== found)
    throw invalidFields([{ path: 'config_type', message: `is "${configType}", but config_json describes "${found}"` }])
  return linkedId
}

/** Who says that it is something else, or gives tools of their own, has left the marketplace. */
function previousLink({ server, configType = 'mcp_marketplace', before = null }: MarketplaceLink): string | null {
  return configType === 'mcp_marketplace' && server.type !== 'custom' ? before : null
}
