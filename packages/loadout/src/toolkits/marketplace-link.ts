/** Links a toolkit to its marketplace server. The link persists through later saves that do not mention it. */
import { invalidFields } from '../schema/json.ts'
import { type ConfigType, configTypeOf, type Server } from '../schema/toolkit/server.ts'
import type { Transaction } from '../storage/storage.ts'

export interface MarketplaceLink {
  server: Server
  /** The named server; null removes the link. */
  serverId?: string | null | undefined
  /** Config type that the caller expects. */
  configType?: ConfigType | undefined
  /** Current link. */
  before?: string | null | undefined
}

/** Throws when the marketplace has no such server, or when the record is not of the expected type. */
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

/** A record of another type, or with its own tools, leaves the marketplace. */
function previousLink({ server, configType = 'mcp_marketplace', before = null }: MarketplaceLink): string | null {
  return configType === 'mcp_marketplace' && server.type !== 'custom' ? before : null
}
