/** A host with the tools of a shop, and the calls that a scripted model makes. */
import { createHost, type DefinedTool, defineTool, type Host, rule } from '@loadout/core'
import { z } from 'zod'

const ORDERS = [
  defineTool({ name: 'orders', description: 'Lists orders.', execute: () => ['a-1', 'b-2'] }),
  defineTool({
    name: 'refund',
    description: 'Gives the money of an order back.',
    inputSchema: z.object({ order: z.string() }),
    execute: ({ order }) => `${order} is paid back.`,
  }),
]
const SALES = [
  defineTool({
    name: 'sales',
    description: 'The sales of a region.',
    outputSchema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    execute: ({ region }) => ({ total: region === 'west' ? 3 : 2 }),
  }),
]

/** `ask`: tools that a person must allow first. */
export async function openShop({
  tools = ORDERS,
  ask = [],
}: {
  tools?: DefinedTool[]
  ask?: string[]
} = {}): Promise<Host> {
  const host = createHost({ policy: { rules: [...ask.map((ref) => rule(ref, 'ask')), rule('*', 'allow')] } })
  await host.toolkits.add({ name: 'shop', tools })
  return host
}

export const openSales = () => openShop({ tools: SALES })

/** A call of a scripted program. */
export const sales = (region: string) => ({ name: 'mcp_shop_sales', arguments: { region } })
