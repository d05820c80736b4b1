import { describe, expect, it } from 'vitest'
import type { Toolkit } from '../../../lib/api.ts'
import { readEvents } from '../sse-parser.ts'
import { locate, toolRows } from '../tool-rows.ts'
import { readTools } from '../tools-search.ts'
import { asCurl } from './as-curl.ts'
import { argumentProblems, elapsed, reduceTestHistory, type Try } from './test-history.ts'

const one: Try = { id: 'a', ref: 'kit.echo', arguments: {}, startedAt: 0, status: 'running' }
const after = (...events: [event: string, data: object][]) =>
  events.reduce(
    (tries, [event, data]) =>
      reduceTestHistory(tries, { type: 'event', id: 'a', event: { event, data: JSON.stringify(data) }, at: 9 }),
    reduceTestHistory([], { type: 'begun', test: one }),
  )[0]

describe('a test run', () => {
  it('follows its events to the end', () => {
    expect(after(['started', { callId: 'c' }], ['progress', { progress: 1, total: 3 }])).toMatchObject({
      callId: 'c',
      status: 'running',
      progress: { progress: 1, total: 3 },
    })
    expect(after(['pending', { approval: { id: 'p' } }])).toMatchObject({ status: 'asks', approval: { id: 'p' } })
    expect(after(['result', { callId: 'c', status: 'tool-error', content: [] }])).toMatchObject({
      status: 'tool-error',
      result: { content: [] },
      endedAt: 9,
    })
    expect(after(['failed', { code: 'denied', detail: 'd', action: 'a' }])).toMatchObject({ status: 'failed' })
    expect(after(['still-here', {}])).toEqual(one)
  })

  it('ends once and ignores later events', () => {
    const over = reduceTestHistory([one], { type: 'cancelled', id: 'a', at: 5 })
    expect(
      reduceTestHistory(over, { type: 'failed', id: 'a', problem: { code: 'x', detail: '', action: '' }, at: 6 }),
    ).toEqual(over)
  })

  it('is removed only after it ended', () => {
    expect(reduceTestHistory([one], { type: 'forget', ref: one.ref })).toHaveLength(1)
    expect(reduceTestHistory([{ ...one, status: 'ok' }], { type: 'forget', ref: one.ref })).toHaveLength(0)
  })

  it('shows the path of invalid arguments', () => {
    const errors = [
      { path: 'arguments.items.0', message: 'm' },
      { path: 'arguments', message: 'r' },
      { path: 'threadId', message: 'x' },
    ]
    expect(argumentProblems({ code: '', detail: '', action: '', errors })).toEqual([
      { path: 'items.0', message: 'm' },
      { path: '(root)', message: 'r' },
    ])
  })

  it('shows its duration', () => {
    expect([12, 1500, 61_000].map(elapsed)).toEqual(['12 ms', '1.5 s', '1 min 1 s'])
  })
})

it('the event reader handles events split at any position', async () => {
  const text = ': hello\n\nevent: progress\ndata: {"a":\ndata: 1}\n\nevent: result\r\ndata: ü\r\n\r\n'
  for (const size of [1, 3, 7, 1000]) {
    const bytes = new TextEncoder().encode(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.slice(n * size, (n + 1) * size),
    )
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift()
        if (piece) controller.enqueue(piece)
        else controller.close()
      },
    })
    const found: unknown[] = []
    for await (const event of readEvents(body)) found.push(event)
    expect(found).toEqual([
      { event: 'progress', data: '{"a":\n1}' },
      { event: 'result', data: 'ü' },
    ])
  }
})

it('asCurl writes a command that a shell parses correctly', () => {
  const call = { origin: 'http://h', toolkit: 'kit', tool: 'a/b', arguments: { text: "it's $HOME" }, withKey: true }
  expect(asCurl(call)).toBe(
    [
      "curl -X POST 'http://h/api/tools/kit/a%2Fb/call'",
      "-H 'Content-Type: application/json'",
      '-H "Authorization: Bearer $LOADOUT_API_KEY"',
      `-d '{"arguments":{"text":"it'\\''s $HOME"}}'`,
    ].join(' \\\n  '),
  )
})

it('the tool list groups tools by toolkit and finds one', () => {
  const tool = (ref: string) => ({ ref })
  const kits = [
    { uscoId: 'u1', tools: [tool('a.x'), tool('a.y')] },
    { uscoId: 'u2', tools: [tool('b.z')] },
  ] as unknown as Toolkit[]
  expect(toolRows(kits, new Set(['u1'])).map(({ key }) => key)).toEqual(['u1', 'u2', 'b.z'])
  expect(locate(kits, 'a.y')?.tool.ref).toBe('a.y')
  expect(locate(kits, 'nobody')).toBeUndefined()
})

it('readTools keeps only known URL parameters', () => {
  expect(readTools({ q: 5, tool: 'a.b', strategy: 'bm25', evil: 1 })).toEqual({ q: '5', tool: 'a.b', strategy: 'bm25' })
  expect(readTools({ strategy: 'nonsense' })).toEqual({})
})
