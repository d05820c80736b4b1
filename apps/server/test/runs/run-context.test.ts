/** A tool of the app that a workflow calls over HTTP finds the context of its own run, whoever else runs the same at that moment. */
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { ambientContext, getExecutionContext } from '@loadout/core/node'
import { afterEach, expect, it } from 'vitest'
import { type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

const USERS = ['ann', 'bob'] as const
const ROUNDS = 10
let app: MultiUserApp
afterEach(() => app.host.close())

const who = {
  name: 'who',
  description: 'Says whose run it is.',
  inputSchema: { type: 'object' },
  async execute() {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
    const { principal, runId, toolkits = {} } = getExecutionContext() ?? {}
    return { user: principal?.userId, runId, brought: Object.keys(toolkits) }
  },
}
const NODES = [
  { id: 'tool', type: 'tool', ref: 'app.who' },
  { id: 'code', type: 'code', program: 'return await app.who({})', tools: ['app.who'] },
  { id: 'agent', type: 'agent', prompt: 'Who?', tools: ['app.who'] },
]
const output = NODES.map(({ id }) => `{{ nodes.${id}.output }}`)

it('each user sees their own run context in tools, programs and agents, with the toolkits they supply', async () => {
  app = multiUserApp({
    runInContext: ambientContext,
    executor: quickjs({ most: 2, spares: 1 }),
    tools: [who],
    agent: async ({ call }) => {
      const outcome = await call({ id: 'c', name: 'app.who', arguments: {} })
      return { output: ('structuredContent' in outcome ? outcome.structuredContent : null) as never }
    },
  })
  await app.host.ready()
  const invoke = async (user: string) => {
    // Named by nobody, and so never started: it is only carried.
    const mcpServers = { [`of-${user}`]: { url: 'https://mcp.example.com/mcp' } }
    const definition = { name: 'who', nodes: NODES, output }
    return { user, answer: await app.as(user)('POST /api/workflow/invoke', { definition, mcpServers }) }
  }
  const all = await Promise.all(Array.from({ length: ROUNDS }).flatMap(() => USERS.map(invoke)))
  for (const { user, answer } of all) {
    const { runId, status, output } = answer.body
    expect([answer.status, status], JSON.stringify(answer.body)).toEqual([200, 'completed'])
    const own = { user, runId, brought: [`of-${user}`] }
    expect(output).toEqual([own, own, own])
  }
  expect(getExecutionContext()).toBeUndefined()
})
