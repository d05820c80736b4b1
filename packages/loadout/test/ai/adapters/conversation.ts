/**
 * One conversation for every adapter: the model calls a tool, searches, calls the found tool, which needs approval, and
 * answers. The model is scripted and speaks its provider's API over HTTP.
 */
import { expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createHost, defineTool, rule, type Selection } from '../../../src/index.ts'
import { startModelServer } from '../../../src/testing/model-server/server.ts'

export const PROMPT = 'Which orders are there? Refund the first.'
export const ANSWER = 'The money is on its way.'
const FIRST = ['read_result', 'search_tools', 'mcp_shop_orders']

export type Adapter = (world: Conversation) => Promise<string>

export interface Conversation {
  selection: Selection
  /** Base URL of the provider's API. */
  url: { openai: string; anthropic: string; aiSdkAnthropic: string }
  /** Answers an approval request, as a user does. */
  allow: (approvalId: string) => Promise<unknown>
  approvals: ReturnType<ReturnType<typeof createHost>['user']>['approvals']
}

/** Runs the conversation, and checks what the model saw and what was called. */
export async function converse(adapter: Adapter): Promise<void> {
  const paid: string[] = []
  const host = createHost({
    policy: [rule('shop.refund', 'ask'), rule('*', 'allow')],
    runtime: { config: { defaults: { deferAboveTokens: 0 } } },
  })
  onTestFinished(() => host.close())
  await host.toolkits.add({ name: 'shop', tools: [orders, refundInto(paid)] })
  const server = await startModelServer([
    { answer: { calls: [{ name: 'mcp_shop_orders', arguments: {}, id: 'call_1' }] } },
    {
      answer: ({ tools, api }) => {
        const arguments_ = { query: 'give money back', limit: 1 }
        const isClientSearch = api === 'responses' && tools.some(({ type }) => type === 'tool_search')
        return isClientSearch
          ? { searches: [{ arguments: arguments_ }] }
          : { calls: [{ name: 'search_tools', arguments: arguments_, id: 'call_2' }] }
      },
    },
    { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' }, id: 'call_3' }] } },
    { answer: ANSWER },
  ])
  onTestFinished(() => server.close())
  const ann = host.user('ann')
  const selection = await ann.thread('support').select({ prompt: 'Which orders are there?', limit: 1 })
  const { approvals } = ann
  const allow = async (id: string) => {
    expect(paid).toEqual([])
    return approvals.allow(id)
  }
  const text = await adapter({ selection, url: server.baseUrl, allow, approvals })
  server.done()
  expect([text, paid]).toEqual([ANSWER, ['a-1']])
  expect(await approvals.list()).toMatchObject([{ ref: 'shop.refund', status: 'allowed' }])
  const [first, second, , last] = server.requests
  const names = (tools: (typeof server.requests)[number]['tools'] = []) =>
    tools.map((tool) => String(tool.name ?? (tool.function as { name?: string } | undefined)?.name ?? 'search_tools'))
  expect(names(first?.tools)).toEqual(FIRST)
  expect(JSON.stringify(second?.history)).toContain('b-2')
  // The tools of the first request stay at the beginning of every request.
  for (const request of server.requests) expect(names(request.tools).slice(0, 3)).toEqual(FIRST)
  expect(JSON.stringify(last?.history)).toContain('a-1 is paid back.')
}

const orders = defineTool({ name: 'orders', description: 'Lists orders.', execute: () => ['a-1', 'b-2'] })
const refundInto = (paid: string[]) =>
  defineTool({
    name: 'refund',
    description: 'Gives the money of an order back.',
    inputSchema: z.object({ order: z.string() }),
    execute: ({ order }) => {
      paid.push(order)
      return `${order} is paid back.`
    },
  })
