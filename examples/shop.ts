/** The shop of these stories: a host with a few tools of it, and the calls that a scripted model makes. */
import { rule } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'

const order = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
const ORDERS = [
  { name: 'orders', description: 'Lists orders.', inputSchema: { type: 'object' }, execute: () => ['a-1', 'b-2'] },
  {
    name: 'refund',
    description: 'Gives the money of an order back.',
    inputSchema: order,
    execute: ({ order: id }: { order: string }) => `${id} is paid back.`,
  },
]
const SALES = [
  {
    name: 'sales',
    description: 'The sales of a region.',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    execute: ({ region }: { region: string }) => ({ total: region === 'west' ? 3 : 2 }),
  },
]

/** `ask`: what a person must allow first. */
export async function openShop({
  tools = ORDERS,
  ask = [],
}: {
  tools?: object[]
  ask?: string[]
} = {}): Promise<HostServices> {
  const host = createServices({ policy: [...ask.map((ref) => rule(ref, 'ask')), rule('*', 'allow')] })
  await host.toolkits.register({ name: 'shop', tools }, { tier: 'app' })
  return host
}

export const openSales = () => openShop({ tools: SALES })

/** What a program asks of it. */
export const sales = (region: string) => ({ name: 'mcp_shop_sales', arguments: { region } })
