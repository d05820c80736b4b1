/** Elicitation: forms, URLs and several rounds, in both protocol eras. */
import { expect } from 'vitest'
import type { RpcMessage } from '../../../../../test/scenario-http.ts'
import type { Answer, Body, ScenarioContext, Scenarios } from './scenario-context.ts'

/** What is asked of this toolkit's user now. */
const asked = (world: ScenarioContext) =>
  world.until(async () => {
    const { body } = await world.ask('GET /inputs')
    return body.items.find(({ toolkit }: Body) => toolkit === world.id) as Body | undefined
  })

/** Calls, gives each answer in turn, and waits for what comes of it. */
async function answering(world: ScenarioContext, tool: string, answers: Body[]): Promise<Answer> {
  const waiting = await world.call(tool)
  expect(waiting).toMatchObject({ status: 202, body: { status: 'input-needed', input: { toolkit: world.id } } })
  const seen = new Set<string>()
  for (const answer of answers) {
    const input = await world.until(async () => {
      const one = await asked(world)
      return seen.has(one.id) ? undefined : one
    })
    seen.add(input.id)
    expect((await world.ask(`POST /inputs/${input.id}`, answer)).status).toBe(204)
  }
  return world.outcome(waiting.body.callId)
}

const accept = (name: string) => ({ action: 'accept', content: { name } })

/** Over a transport of the first era the server asks by a request of its own, and is answered. */
async function formOfFirstEra(world: ScenarioContext, messages: () => RpcMessage[]): Promise<void> {
  const { body } = await answering(world, 'ask', [accept('Ann')])
  expect(body).toMatchObject({ status: 'ok', content: [{ text: 'hello Ann' }] })
  const answers = messages().filter(({ result }) => (result as Body)?.action !== undefined)
  expect(answers.map(({ result }) => result)).toMatchObject([accept('Ann')])
}

/** In 2026-07-28 the call ends with the question, and is sent again with the answer. */
async function formOf2026(world: ScenarioContext, calls: () => RpcMessage[]): Promise<void> {
  const { body } = await answering(world, 'ask', [accept('Ann')])
  expect(body).toMatchObject({ status: 'ok', content: [{ text: 'hello Ann' }] })
  const [first, second, ...more] = calls()
  expect(first?.params?.inputResponses).toBeUndefined()
  expect(second?.params?.inputResponses).toMatchObject({ name: accept('Ann') })
  expect(second?.id).not.toBe(first?.id)
  expect(more).toEqual([])
}

const posted = (server: { seen: Array<{ message?: RpcMessage }> }) => () =>
  server.seen.flatMap(({ message }) => message ?? [])
const called = (server: { of(method: string): Array<{ message?: RpcMessage }> }) => () =>
  server.of('tools/call').flatMap(({ message }) => message ?? [])

const PAGE = { mode: 'url', message: 'Pay here.', url: 'https://pay.example/checkout' }

export const QUESTIONS: Scenarios = {
  'a form reaches the user and its answer reaches the server over legacy HTTP': async (world) =>
    formOfFirstEra(world, posted(await world.http('legacy'))),
  'a form reaches the user and its answer reaches the server over legacy stdio': async (world) =>
    formOfFirstEra(world, (await world.stdio('legacy')).messages),
  'a form reaches the user and its answer reaches the server over HTTP+SSE': async (world) =>
    formOfFirstEra(world, posted(await world.http('sse'))),
  'a form reaches the user and its answer reaches the server over 2026-07-28 HTTP': async (world) =>
    formOf2026(world, called(await world.http('modern'))),
  async 'a form reaches the user and its answer reaches the server over 2026-07-28 stdio'(world) {
    const server = await world.stdio('modern')
    await formOf2026(world, () => server.of('tools/call'))
  },

  async 'an answer that does not match the form never reaches the server'(world) {
    const server = await world.http('modern')
    const { body } = await world.call('ask')
    const wrong = await world.ask(`POST /inputs/${body.input.id}`, { action: 'accept', content: { name: 7 } })
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ path: 'content.name' }] } })
    expect(server.of('tools/call')).toHaveLength(1)
    await world.ask(`POST /inputs/${body.input.id}`, { action: 'decline' })
    expect((await world.outcome(body.callId)).body.content[0].text).toBe('they decline')
    expect(server.notes).toEqual(['answer decline null'])
  },

  async 'a URL reaches the user and its answer reaches a legacy server'(world) {
    await world.http('legacy')
    const { body } = await world.call('ask-url')
    expect(body.input.question).toMatchObject(PAGE)
    await world.ask(`POST /inputs/${body.input.id}`, { action: 'accept' })
    expect((await world.outcome(body.callId)).body.content[0].text).toBe('page accept')
  },

  async 'a URL reaches the user and its answer reaches a 2026-07-28 server'(world) {
    const server = await world.http('modern')
    const { body } = await world.call('ask-url')
    expect(body.input.question).toMatchObject(PAGE)
    await world.ask(`POST /inputs/${body.input.id}`, { action: 'cancel' })
    expect((await world.outcome(body.callId)).body.content[0].text).toBe('page cancel')
    expect(called(server)()[1]?.params?.inputResponses).toMatchObject({ page: { action: 'cancel' } })
  },

  async 'two rounds of input_required return the request state unchanged'(world) {
    const server = await world.http('modern')
    const { body } = await answering(world, 'ask-twice', [accept('Ann'), accept('Bob')])
    expect(body.content[0].text).toBe('Ann and Bob')
    const states = called(server)().map(({ params }) => params?.requestState)
    expect(states).toEqual([undefined, 'begun', 'Ann'])
    expect(server.notes).toEqual(['round none', 'round begun', 'round Ann'])
  },

  async 'two rounds reach the user of a legacy server'(world) {
    await world.stdio('legacy')
    const { body } = await answering(world, 'ask-twice', [accept('Ann'), accept('Bob')])
    expect(body.content[0].text).toBe('Ann and Bob')
  },

  async 'a client that follows the call receives the request, then the result'(world) {
    await world.http('legacy')
    const events = world.follow('ask')
    const [{ input }] = await world.until(() => events.all('input-needed').length > 0 && events.all('input-needed'))
    await world.ask(`POST /inputs/${input.id}`, accept('Ann'))
    await events.done
    expect(events.names()).toEqual(['started', 'input-needed', 'result'])
    expect(events.all('result')[0].content[0].text).toBe('hello Ann')
  },

  async 'an answer may take longer than the call timeout'(world) {
    await world.http('modern', { record: { timeouts: { callMs: 400, totalMs: 800 } } })
    const { body } = await world.call('ask')
    await new Promise((resolve) => setTimeout(resolve, 1200))
    expect((await world.ask(`POST /inputs/${body.input.id}`, accept('Ann'))).status).toBe(204)
    expect((await world.outcome(body.callId)).body.content[0].text).toBe('hello Ann')
  },
}
