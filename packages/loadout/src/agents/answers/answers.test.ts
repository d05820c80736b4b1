/** Chat answers of a model as runs: their parts make up the stored message, and a resumed answer repeats no call. */
import { MockLanguageModelV4 } from 'ai/test'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import type { RunPart } from '../../runs/engine.ts'
import type { JsonObject } from '../../schema/json.ts'
import { memory } from '../../storage/memory.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ModelScript } from '../../testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../../testing/model-server/server.ts'
import { createModels, type Models } from '../models.ts'
import { answerHandler, startAnswer } from './answer-handler.ts'

let storage: Storage
let server: ModelServer | undefined
let hosts: HostServices[]
let calls: string[]

beforeEach(async () => {
  storage = memory()
  await storage.ready()
  hosts = []
  calls = []
})
afterEach(async () => {
  for (const host of hosts) await host.close()
  await server?.close()
  server = undefined
})

/** A process over the shared storage. */
async function startHost(): Promise<HostServices> {
  const { name } = storage
  const shared: Storage = {
    name,
    watch: (listener) => storage.watch(listener),
    ready: () => storage.ready(),
    close: async () => {},
    transaction: (access, work) => storage.transaction(access, work),
  }
  const host = createServices({ storage: shared, policy: [rule('shop.refund', 'ask'), rule('*', 'allow')] })
  const tool = (named: string) => ({
    name: named,
    inputSchema: { type: 'object' },
    execute: () => {
      calls.push(named)
      return `${named} done`
    },
  })
  await host.toolkits.register({ name: 'shop', tools: [tool('orders'), tool('refund')] }, { tier: 'app' })
  await host.ready()
  hosts.push(host)
  return host
}

async function scripted({ credentials, storage: own }: HostServices, script: ModelScript): Promise<Models> {
  server = await startModelServer(script)
  const baseUrls = { anthropic: server.baseUrl.aiSdkAnthropic }
  return createModels({
    credentials,
    storage: own,
    baseUrls,
    keys: { anthropic: 'k' },
    model: 'anthropic:claude-opus-5-5',
  })
}

async function start(host: HostServices, models: Pick<Models, 'open'>) {
  host.answers.serve(answerHandler({ host, models }))
  const { id: threadId } = await host.threads.create('ann')
  const userParts = [{ type: 'text' as const, text: 'Refund order a-1.' }]
  const answerId = await startAnswer({ host, models, userId: 'ann', threadId, userParts })
  return { userId: 'ann', threadId, answerId }
}

type Address = Awaited<ReturnType<typeof start>>

async function readAll({ answers }: HostServices, answer: Address): Promise<JsonObject[]> {
  const found: RunPart[] = []
  for await (const part of answers.read(answer)) found.push(part)
  return found.map(({ part }) => part)
}

async function storedAnswers({ messages }: HostServices, { threadId }: Address) {
  const found = await messages.list('ann', threadId)
  return found.filter(({ role }) => role === 'assistant')
}

const typesOf = (parts: readonly JsonObject[]) => parts.map(({ type }) => type)
const textsOf = (parts: readonly JsonObject[]) => parts.filter(({ type }) => type === 'text').map((part) => part.text)

it('streams an answer with its calls and stores its message once', async () => {
  const host = await startHost()
  const models = await scripted(host, [
    { answer: { text: 'I look.', calls: [{ name: 'mcp_shop_orders' }] } },
    { answer: 'Two orders.' },
  ])
  const answer = await start(host, models)
  const types = typesOf(await readAll(host, answer))
  expect(types.filter((type) => type === 'start-step')).toHaveLength(2)
  expect([types[0], types.at(-1)]).toEqual(['start', 'finish'])
  expect(types).toEqual(expect.arrayContaining(['data-selection', 'tool-output-available', 'data-usage']))
  const [message, ...more] = await storedAnswers(host, answer)
  expect([textsOf(message?.parts ?? []), more]).toEqual([['I look.', 'Two orders.'], []])
  expect(calls).toEqual(['orders'])
  expect(await host.runs.list('ann')).toEqual([])
})

it('resumes in another process after an approval, without repeating a request or a call', async () => {
  const first = await startHost()
  const models = await scripted(first, [
    { answer: { text: 'I look.', calls: [{ name: 'mcp_shop_orders' }] } },
    { answer: { calls: [{ name: 'mcp_shop_refund' }] } },
    { answer: 'Paid back.' },
  ])
  const answer = await start(first, models)
  expect((await first.runs.settled('ann', answer.answerId)).status).toBe('paused')
  expect(calls).toEqual(['orders'])
  await first.close()
  const second = await startHost()
  second.answers.serve(answerHandler({ host: second, models }))
  const [approval] = await second.approvals.list('ann')
  await second.approvals.answer('ann', approval?.id ?? '', { decision: 'allow' })
  const parts = await readAll(second, answer)
  expect(calls).toEqual(['orders', 'refund'])
  expect(server?.requests).toHaveLength(3)
  expect(typesOf(parts).filter((type) => type === 'tool-output-available')).toHaveLength(2)
  const states = parts.filter(({ type }) => type === 'data-approval').map(({ data }) => statusOf(data))
  expect([states[0], states.at(-1)]).toEqual(['pending', 'allowed'])
  const [message] = await storedAnswers(second, answer)
  expect(textsOf(message?.parts ?? [])).toEqual(['I look.', 'Paid back.'])
})

const statusOf = (data: unknown) => (data as { approval: { status: string } }).approval.status

/** A model that says the first half of a text and then hangs until it is aborted. */
const hanging = () =>
  new MockLanguageModelV4({
    doStream: async ({ abortSignal }) => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] })
          controller.enqueue({ type: 'text-start', id: '0' })
          controller.enqueue({ type: 'text-delta', id: '0', delta: 'Half' })
          abortSignal?.addEventListener('abort', () => controller.error(abortSignal.reason))
        },
      }),
    }),
  })

async function startHanging(host: HostServices) {
  const model = hanging()
  const open: Models['open'] = async () => ({
    model,
    provider: 'anthropic',
    name: 'anthropic:m',
    secrets: [],
    ceiling: {},
  })
  const answer = await start(host, { open })
  const reader = host.answers.read(answer)
  for await (const { part } of reader) if (part.type === 'text-delta') break
  return answer
}

it('stores what a cancelled answer said', async () => {
  const host = await startHost()
  const answer = await startHanging(host)
  await host.answers.cancel(answer)
  expect(typesOf(await readAll(host, answer)).at(-1)).toBe('abort')
  const [message] = await storedAnswers(host, answer)
  expect(textsOf(message?.parts ?? [])).toEqual(['Half'])
  expect(await host.answers.active('ann', answer.threadId)).toBeUndefined()
})

it('repeats a reply that broke off with its process, and drops the first half', async () => {
  const first = await startHost()
  const answer = await startHanging(first)
  await first.close()
  const second = await startHost()
  const models = await scripted(second, [{ answer: 'Whole.' }])
  second.answers.serve(answerHandler({ host: second, models }))
  // A reader that is early sees the first half, then the marker.
  await readAll(second, answer)
  const parts = await readAll(second, answer)
  expect(parts.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta)).toEqual(['Whole.'])
  const [message] = await storedAnswers(second, answer)
  expect(textsOf(message?.parts ?? [])).toEqual(['Whole.'])
})

it('ends with the error of its model', async () => {
  const host = await startHost()
  const models = await scripted(host, () => ({ raw: { status: 401, body: { error: { message: 'bad key' } } } }))
  const answer = await start(host, models)
  expect(typesOf(await readAll(host, answer))).toEqual(expect.arrayContaining(['error', 'finish']))
  expect((await host.runs.get('ann', answer.answerId)).status).toBe('failed')
  expect(await host.answers.active('ann', answer.threadId)).toBeUndefined()
})
