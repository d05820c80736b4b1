/** Contract of agent nodes with a model over HTTP: each response is requested once, and all calls use the pipeline. */
import { afterEach, expect, it } from 'vitest'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import type { Json } from '../schema/json.ts'
import type { ModelScript } from '../testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../testing/model-server/server.ts'
import type { AgentCall, AgentRequest } from '../workflow/agent.ts'
import { createModels } from './models.ts'
import { nodeAgent } from './node-agent.ts'

let host: HostServices
let server: ModelServer
afterEach(async () => {
  await server.close()
  await host.close()
})

async function start(script: ModelScript) {
  host = createServices({ policy: [rule('*', 'allow')] })
  const tool = { name: 'add', inputSchema: { type: 'object' }, execute: ({ a }: { a: number }) => a + 1 }
  await host.toolkits.register({ name: 'sums', tools: [tool] }, { tier: 'app' })
  server = await startModelServer(script)
  const { credentials, storage } = host
  const baseUrls = { anthropic: server.baseUrl.aiSdkAnthropic }
  return nodeAgent({
    models: createModels({
      credentials,
      storage,
      baseUrls,
      keys: { anthropic: 'k' },
      model: 'anthropic:claude-opus-5-5',
    }),
  })
}

/** A log as a run keeps it. */
function logged(responses = new Map<string, Json>(), made = new Map<string, AgentCall>()) {
  const thread = host.thread({ userId: 'ann', threadId: 't' })
  const controller = new AbortController()
  return {
    responses,
    made,
    controller,
    async request(more: Partial<AgentRequest> = {}): Promise<AgentRequest> {
      const call: AgentRequest['call'] = (one) => {
        made.set(one.id, one)
        return thread.call(one)
      }
      return {
        userId: 'ann',
        threadId: undefined,
        runId: 'run_1',
        node: 'sum',
        model: undefined,
        system: 'Be brief.',
        prompt: 'What is 1 + 1?',
        output: undefined,
        maxSteps: 5,
        budget: undefined,
        loadout: await thread.loadout(),
        signal: controller.signal,
        call,
        async resolve(options) {
          const selection = await thread.select(options)
          return { ...selection, call: (one) => (more.call ?? call)({ id: '', ...one }) }
        },
        spend: () => {},
        async remember<T extends Json>(name: string, ask: () => Promise<T>) {
          if (!responses.has(name)) responses.set(name, JSON.parse(JSON.stringify(await ask())) as Json)
          return responses.get(name) as T
        },
        ...more,
      }
    },
  }
}

const add = { calls: [{ name: 'mcp_sums_add', arguments: { a: 1 } }], usage: { input: 20, output: 4 } }

it('a node agent calls its tools, and a second run replays the same answers without model requests', async () => {
  const run = await start([{ answer: add }, { answer: { text: 'Two.', usage: { input: 30, output: 2 } } }])
  const log = logged()
  const first = await run(await log.request())
  const usage = { inputTokens: 50, outputTokens: 6, modelSteps: 2 }
  expect(first).toEqual({ output: 'Two.', usage, warnings: [] })
  expect([...log.responses.keys()]).toEqual(['model-0', 'model-1'])
  expect(JSON.stringify(server.requests[0]?.body.system)).toContain('Be brief.')
  const again = logged(log.responses)
  expect(await run(await again.request())).toEqual(first)
  expect([...again.made.keys()]).toEqual([...log.made.keys()])
  expect(server.requests).toHaveLength(2)
})

it('a node agent stops on its signal, as when a call waits for approval', async () => {
  const run = await start([{ answer: add }])
  const log = logged()
  const call = async () => {
    log.controller.abort()
    throw new Error('It waits.')
  }
  await expect(run(await log.request({ call }))).rejects.toMatchObject({ code: 'cancelled' })
  expect(server.requests).toHaveLength(1)
})

it('a node agent fails when its steps are used up', async () => {
  const run = await start(() => add)
  await expect(run(await logged().request({ maxSteps: 2 }))).rejects.toMatchObject({ code: 'limit-reached' })
  expect(server.requests).toHaveLength(2)
})

it('a node agent retries a busy provider and stores the final answer', async () => {
  let requestCount = 0
  const busy = { raw: { status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'busy' } } } }
  const run = await start(() => (requestCount++ === 0 ? busy : 'Two.'))
  const log = logged()
  expect((await run(await log.request())).output).toBe('Two.')
  expect([requestCount, log.responses.size]).toEqual([2, 1])
})
