/** What a workflow calls finds the run's own context, from every kind of node, and nobody else's: not in a sandbox that served another. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { quickjs } from '../../src/code-mode/quickjs.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { ambientContext, getExecutionContext, withExecutionContext } from '../../src/node.ts'
import { rule } from '../../src/policy/rules.ts'
import type { RunView } from '../../src/schema/records/run.ts'

const USERS = ['ann', 'bob'] as const
const ROUNDS = 10
let host: HostServices
beforeEach(() => {
  host = createServices({
    runInContext: ambientContext,
    // One sandbox for all: what is around it is that of who came first.
    executor: quickjs({ most: 1, spares: 1 }),
    policy: [rule('*.ask', 'ask'), rule('*', 'allow')],
    agent: async ({ call }) => {
      const outcome = await call({ id: 'c', name: 'app.who', arguments: {} })
      return { output: [seen(), 'structuredContent' in outcome ? outcome.structuredContent : null] as never }
    },
    tools: [who('who'), who('ask')],
  })
})
afterEach(() => host.close())

function seen() {
  const { principal, runId, workflowVersionId, scope } = getExecutionContext() ?? {}
  return {
    user: principal?.userId,
    key: principal?.keyId,
    runId,
    version: workflowVersionId,
    threadId: scope?.threadId,
  }
}

function who(name: string) {
  return {
    name,
    description: 'Says whose call it is.',
    inputSchema: { type: 'object' },
    async execute() {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
      return { ...seen() }
    },
  }
}

/** Code of everyone's, that calls on from its own sandbox. */
const CODE = {
  name: 'custom',
  tools: [
    { name: 'on', inputSchema: { type: 'object' }, tools: ['app.who'], execute: "return await call('app.who', {})" },
  ],
}
const NODES = [
  { id: 'tool', type: 'tool', ref: 'app.who' },
  { id: 'code', type: 'code', program: 'return [await app.who({}), await app.who({})]', tools: ['app.who'] },
  { id: 'agent', type: 'agent', prompt: 'Who?', tools: ['app.who'] },
  { id: 'each', type: 'map', over: '[1, 2]', node: 'item' },
  { id: 'item', type: 'tool', ref: 'custom.on' },
]
const OUTPUT = {
  tool: '{{ nodes.tool.output }}',
  code: '{{ nodes.code.output }}',
  agent: '{{ nodes.agent.output }}',
  each: '{{ nodes.each.output }}',
}

async function startAs(user: string, workflowVersionId: string): Promise<RunView> {
  const principal = { kind: 'api-key' as const, userId: user, keyId: `key of ${user}` }
  return host.workflows.run(user, { workflowVersionId, threadId: `t-${user}`, principal })
}

it('the execution context stays separate for two users in tools, programs, agents and nested calls', async () => {
  await host.toolkits.register(CODE, { tier: 'app' })
  const rounds = USERS.map(async (user) => {
    const { workflowVersionId } = await host.workflows.create(user, { name: 'who', nodes: NODES, output: OUTPUT })
    const all = Array.from({ length: ROUNDS }, () => startAs(user, workflowVersionId))
    return (await Promise.all(all)).map((run) => ({ user, run }))
  })
  const runs = (await Promise.all(rounds)).flat()
  for (const { user, run } of runs) {
    const own = { user, key: `key of ${user}`, runId: run.id, version: run.workflowVersionId, threadId: `t-${user}` }
    expect(run.status, JSON.stringify(run.error)).toBe('completed')
    expect(run.output).toMatchObject({ tool: own, code: [own, own], agent: [own, own], each: [own, own] })
  }
})

it('a resumed run keeps its own execution context, regardless of the user who answers the approval request', async () => {
  const nodes = [{ id: 'a', type: 'tool', ref: 'app.ask' }]
  const paused = await host.workflows.run('ann', { definition: { name: 'w', nodes } })
  const { approvalId = '' } = paused.steps[0] ?? {}
  const done = await withExecutionContext({ principal: { kind: 'session', userId: 'bob' } }, async () => {
    await host.approvals.answer('ann', approvalId, { decision: 'allow' })
    return host.runs.settled('ann', paused.id)
  })
  expect([done.status, done.output]).toMatchObject(['completed', { user: 'ann', runId: done.id }])
})

it('a program has no execution context, not even that of the previous user of its sandbox', async () => {
  const program = 'return [await app.who({}), await app.who({})]'
  const run = (user: string) => host.thread({ userId: user, threadId: 't' }).run({ program })
  const runs = await withExecutionContext({ principal: { kind: 'session', userId: 'ann' } }, () =>
    Promise.all([
      host.workflows.run('ann', { definition: { name: 'w', nodes: NODES.slice(0, 2) } }),
      ...Array.from({ length: 30 }, () => run('bob')),
    ]),
  )
  expect(runs.slice(1).map(({ output }) => output)).toEqual(runs.slice(1).map(() => [{}, {}]))
})

it('the calls of an invocation see its execution context and other calls see none', async () => {
  const context = { principal: { kind: 'session' as const, userId: 'ann' }, runId: 'r' }
  const invocation = await withExecutionContext(context, (made) => host.setupToolkits(['app'], { context: made }))
  const outcome = await invocation.call({ name: 'app.who', arguments: {} })
  expect(outcome).toMatchObject({ structuredContent: { user: 'ann', runId: 'r' } })
  const call = { userId: 'ann', toolkit: 'app', tool: 'who', arguments: {}, caller: { type: 'direct' as const } }
  expect(await host.calls.start(call).outcome).toMatchObject({ structuredContent: {} })
  expect(getExecutionContext()).toBeUndefined()
  await invocation.close()
})
