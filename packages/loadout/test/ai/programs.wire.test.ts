/**
 * Programs that providers run, with their official SDKs, over HTTP: what a program calls goes through our pipeline and is in a
 * run, its data go to the program alone, and whoever reads a response again makes no second call.
 */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answerAnthropic, callAll, readAnthropic, toAnthropic } from '../../src/ai/anthropic/anthropic.ts'
import { answerOpenAI, readOpenAI, toOpenAI } from '../../src/ai/openai/openai.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import type { ModelRequest, ModelScript } from '../../src/testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../../src/testing/model-server/server.ts'

const VERSION = 'code_execution_20260120'
const SALES = 'mcp_shop_sales'
const RATE = 'mcp_shop_rate'
const SIGN = 'mcp_by-hand_sign'
const PROMPT = 'Which region sold the most?'

let host: HostServices
let server: ModelServer
let made: string[]

beforeEach(async () => {
  made = []
  host = createServices({ policy: [rule('shop.refund', 'ask'), rule('*', 'allow')] })
  const tool = (name: string, execute: (input: never) => unknown, more: object = {}) => ({
    name,
    description: `Does ${name}.`,
    inputSchema: { type: 'object' },
    ...more,
    execute: (input: never) => {
      made.push(`${name} ${JSON.stringify(input)}`)
      return execute(input)
    },
  })
  const rows = (region: string) =>
    Array.from({ length: 50 }, (_, id) => ({ id: `row-of-${region}-${id}`, total: region === 'west' ? 3 : 2 }))
  const outputSchema = { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] }
  const tools = [
    tool('sales', ({ region }: { region: string }) => ({ rows: rows(region) }), { outputSchema }),
    tool('rate', () => '1.5'),
    tool('refund', () => 'refunded'),
  ]
  await host.toolkits.register({ name: 'shop', tools, deferLoading: false }, { tier: 'app' })
  const byHand = { name: 'by-hand', tools: [tool('sign', () => 'signed')], deferLoading: false }
  await host.toolkits.register({ ...byHand, allowedCallers: ['direct'] }, { tier: 'app' })
})
afterEach(async () => {
  await server.close()
  await host.close()
})

interface Talk {
  script: ModelScript
  stream: boolean
  onPending?: (id: string) => void
}

const thread = () => host.thread({ userId: 'ann', threadId: 'work' })
const pending = ({ onPending }: Talk) =>
  onPending ? { onPending: (_: unknown, { id }: { id: string }) => onPending(id) } : {}

/** The loop of an app, as `docs/guides/models/providers.md` has it. Gives what answers the same responses when they are read again. */
async function withAnthropic(talk: Talk) {
  server = await startModelServer(talk.script)
  const client = new Anthropic({ apiKey: 'key', baseURL: server.baseUrl.anthropic, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: PROMPT }]
  const selection = await thread().select({ prompt: PROMPT })
  const again: Array<() => Promise<unknown>> = []
  let container: string | undefined
  for (let step = 0; step < 10; step++) {
    const { tools } = toAnthropic(selection, { messages, programs: VERSION })
    const request = { model: 'claude-opus-5-5', max_tokens: 1000, tools, messages, ...(container ? { container } : {}) }
    const message = talk.stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
    messages.push({ role: 'assistant', content: message.content })
    const turn = readAnthropic(selection, message)
    container = turn.container?.id ?? container
    await selection.follow(turn.programs)
    if (turn.calls.length === 0) break
    const answer = answerAnthropic(selection, await callAll(turn.calls, selection.call, pending(talk)))
    messages.push(answer)
    again.push(async () => {
      await selection.follow(turn.programs)
      expect(answerAnthropic(selection, await callAll(turn.calls, selection.call))).toEqual(answer)
    })
  }
  server.done()
  return { history: messages as unknown[], requests: server.requests, again }
}

async function withOpenAI(talk: Talk) {
  server = await startModelServer(talk.script)
  const client = new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 })
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: PROMPT }]
  const selection = await thread().select({ prompt: PROMPT })
  const again: Array<() => Promise<unknown>> = []
  for (let step = 0; step < 10; step++) {
    const { tools } = toOpenAI(selection, { input, programs: true })
    const request = { model: 'gpt-5.6', store: false, tools, input }
    const { output } = talk.stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request)
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
    const turn = readOpenAI(selection, output)
    await selection.follow(turn.programs)
    if (turn.calls.length === 0) break
    const answer = answerOpenAI(selection, await callAll(turn.calls, selection.call, pending(talk)))
    input.push(...answer)
    again.push(async () => {
      await selection.follow(turn.programs)
      expect(answerOpenAI(selection, await callAll(turn.calls, selection.call))).toEqual(answer)
    })
  }
  server.done()
  return { history: input as unknown[], requests: server.requests, again }
}

/** What the program of the script was answered with, in the order in which it asked. */
function resultsIn({ api, history }: ModelRequest): string[] {
  const blocks = history.flatMap((item) => (api === 'anthropic' ? ((item.content ?? []) as object[]) : [item]))
  return blocks.flatMap((block) => {
    const { type, output, content } = block as { type?: string; output?: string; content?: Array<{ text: string }> }
    if (type === 'tool_result') return [content?.[0]?.text ?? '']
    return type === 'function_call_output' ? [output ?? ''] : []
  })
}
const totalOf = (text: string) =>
  (JSON.parse(text) as { rows: Array<{ total: number }> }).rows.reduce((sum, { total }) => sum + total, 0)

/** A loop over two regions, a call that is refused, and one behind it; the text is what the program worked out. */
const script: ModelScript = [
  {
    answer: {
      text: 'I write a program.',
      programs: [{ code: 'for region in regions: …', calls: [{ name: SALES, arguments: { region: 'west' } }] }],
    },
  },
  {
    answer: {
      programs: [
        {
          calls: [
            { name: SALES, arguments: { region: 'east' } },
            { name: SIGN, madeUp: true },
          ],
        },
      ],
    },
  },
  { answer: { programs: [{ calls: [{ name: RATE }] }] } },
  {
    answer: (request) => {
      const [west = '', east = '', refused = '', rate = ''] = resultsIn(request)
      expect(refused).toContain('may not be called by "code"')
      return { programs: [{ output: `${totalOf(west) * Number(rate)} and ${totalOf(east)}` }], text: 'West, with 225.' }
    },
  },
]

describe.each([
  { provider: 'anthropic', talk: withAnthropic, caller: { type: VERSION, tool_id: expect.any(String) } },
  { provider: 'openai', talk: withOpenAI, caller: { type: 'program', caller_id: expect.any(String) } },
])('$provider', ({ provider, talk, caller }) => {
  it.each([false, true])(
    'a program calls two tools in a loop through the pipeline with streaming %s',
    async (stream) => {
      const { history, requests, again } = await talk({ script, stream })
      expect(requests.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(JSON.stringify(history.at(-1))).toContain('West, with 225.')
      expect(made).toEqual(['sales {"region":"west"}', 'sales {"region":"east"}', 'rate {}'])

      const [listed] = await host.runs.list('ann')
      const run = await host.runs.get('ann', listed?.id ?? '')
      expect(run).toMatchObject({ kind: 'program', status: 'completed', output: '225 and 100', usage: { calls: 4 } })
      const [program, west, ...later] = run.steps.map(({ status, request }) => [
        status,
        (request as { ref?: string }).ref,
      ])
      expect([program, west, later.at(-1)]).toEqual([
        ['completed', undefined],
        ['completed', 'shop.sales'],
        ['completed', 'shop.rate'],
      ])
      // These two were asked for at once: either may be in the log first.
      expect(later.slice(0, -1).sort()).toEqual([
        ['completed', 'shop.sales'],
        ['failed', 'by-hand.sign'],
      ])
      expect(run.steps[0]?.request).toMatchObject({ provider, code: 'for region in regions: …' })
      expect(run.steps[1]?.request).toMatchObject({ arguments: { region: 'west' } })
      expect(run.steps.find(({ status }) => status === 'failed')?.error?.code).toBe('not-carried')

      for (const read of again) await read()
      expect(made).toHaveLength(3)
      expect(await host.runs.list('ann')).toHaveLength(1)
      expect(await host.runs.get('ann', run.id)).toMatchObject({ status: 'completed', steps: run.steps })
    },
  )

  it('the results of program calls reach only the program', async () => {
    const { history } = await talk({ script, stream: false })
    const blocks = history.flatMap((item) => {
      const { content } = item as { content?: unknown }
      return provider === 'anthropic' && Array.isArray(content) ? content : [item]
    }) as Array<Record<string, unknown>>
    const withRows = blocks.filter((block) => JSON.stringify(block).includes('row-of-'))
    expect(withRows).toHaveLength(2)
    for (const { tool_use_id, call_id } of withRows) {
      const asked = blocks.find(({ type, id, call_id: by }) =>
        type === 'tool_use' ? id === tool_use_id : type === 'function_call' && by === call_id,
      )
      expect(asked?.caller).toEqual(caller)
    }
  })

  it('a program call that needs approval waits, and the approval request shows the caller', async () => {
    const asked: string[] = []
    const { history } = await talk({
      stream: false,
      async onPending(id) {
        asked.push(id)
        expect(await host.approvals.get('ann', id)).toMatchObject({
          ref: 'shop.refund',
          caller: { type: 'code', toolId: expect.any(String) },
        })
        await host.approvals.answer('ann', id, { decision: 'allow' })
      },
      script: [
        { answer: { programs: [{ code: 'refund()', calls: [{ name: 'mcp_shop_refund' }] }] } },
        {
          answer: (request) => ({ programs: [{ output: resultsIn(request)[0] ?? '' }], text: 'Done.' }),
        },
      ],
    })
    expect(asked).toHaveLength(1)
    expect(made).toEqual(['refund {}'])
    expect(JSON.stringify(history)).toContain('refunded')
    expect((await host.runs.list('ann'))[0]).toMatchObject({ status: 'completed', output: 'refunded' })
  })

  it('a failed program is stored as a failed run, and the thread continues', async () => {
    await talk({
      stream: true,
      script: [
        { answer: { programs: [{ code: 'sales()', calls: [{ name: SALES, arguments: { region: 'west' } }] }] } },
        { answer: { programs: [{ error: 'KeyError: rows' }], text: 'It failed.' } },
      ],
    })
    const [run] = await host.runs.list('ann')
    expect(run).toMatchObject({ status: 'failed', error: { code: 'program-failed' } })
    expect(run?.error?.message).toContain('KeyError')
  })

  it('direct calls beside a program are not part of its run', async () => {
    await talk({
      stream: false,
      script: [
        {
          answer: {
            programs: [{ code: 'rate()', calls: [{ name: RATE }] }],
            calls: [{ name: SIGN }],
          },
        },
        { answer: { programs: [{ output: '1.5' }], text: 'Done.' } },
      ],
    })
    const [listed] = await host.runs.list('ann')
    expect((await host.runs.get('ann', listed?.id ?? '')).steps).toHaveLength(2)
    expect(made.sort()).toEqual(['rate {}', 'sign {}'])
  })
})
