import { describe, expect, it } from 'vitest'
import { outcomeToJson } from '../calls/records/outcome-json.ts'
import { HostError } from '../errors.ts'
import { answerAnthropic } from './anthropic/anthropic.ts'
import { referencedInMessages, toModelOutput, toReferences } from './model-output.ts'
import { answerOpenAI, answerOpenAIChat } from './openai/openai.ts'
import { resultParts, valueText } from './result-parts.ts'

const none = { tools: [], deferred: [] }
const ok = (...content: Record<string, unknown>[]) => ({ status: 'ok' as const, content })
const DATA = Buffer.from('hello').toString('base64')
const image = { type: 'image', data: DATA, mimeType: 'image/png' }
const audio = { type: 'audio', data: DATA, mimeType: 'audio/wav' }
const pdf = { type: 'resource', resource: { uri: 'file:///a/b.pdf', mimeType: 'application/pdf', blob: DATA } }
const completedCalls = (outcome: ReturnType<typeof ok>) => [
  { call: { id: 'id_1', name: 'x', arguments: {}, source: {} }, outcome },
]

describe('the model-facing result of a call', () => {
  it('contains the server content for every kind of block', () => {
    expect(
      resultParts(
        ok(
          { type: 'text', text: 'hello' },
          image,
          audio,
          { type: 'resource', resource: { uri: 'x', text: 'inside' } },
          pdf,
          { type: 'resource_link', uri: 'file:///a', name: 'A', description: 'what it is' },
          { type: 'hologram', of: 'something' },
          { type: 'image', data: 7 },
        ),
      ),
    ).toEqual([
      { type: 'text', text: 'hello' },
      { type: 'file', mediaType: 'image/png', data: DATA },
      { type: 'file', mediaType: 'audio/wav', data: DATA },
      { type: 'text', text: 'inside' },
      { type: 'file', mediaType: 'application/pdf', data: DATA, name: 'b.pdf' },
      { type: 'text', text: 'A\nfile:///a\nwhat it is' },
      { type: 'text', text: '{"type":"hologram","of":"something"}' },
      { type: 'text', text: '{"type":"image","data":7}' },
    ])
  })

  it('is never empty', () => {
    expect(resultParts(ok())).toEqual([{ type: 'text', text: 'Done.' }])
    expect(resultParts({ ...ok(), structuredContent: { a: 1 } })).toEqual([{ type: 'text', text: '{"a":1}' }])
    const error = new HostError('denied', { detail: 'No.' })
    expect(resultParts({ status: 'denied', error })).toEqual([{ type: 'text', text: `No. ${error.action}` }])
  })

  it('has a text once that the server repeats as structured content', () => {
    const text = 'The weather in Oslo is fine.'
    for (const structuredContent of [{ result: text }, { text }, text]) {
      const outcome = { ...ok({ type: 'text', text }), structuredContent }
      const sent = [
        answerAnthropic(none, completedCalls(outcome)),
        answerOpenAI(none, completedCalls(outcome)),
        answerOpenAIChat(none, completedCalls(outcome)),
        toModelOutput({ output: JSON.parse(JSON.stringify(outcomeToJson(outcome))) }),
        valueText(outcome),
      ]
      expect(sent.map((one) => JSON.stringify(one).split(text).length - 1)).toEqual([1, 1, 1, 1, 1])
      expect(outcomeToJson(outcome)).toMatchObject({ structuredContent })
    }
  })

  it('is converted for each provider, with a note for unsupported content', () => {
    const all = completedCalls(ok({ type: 'text', text: '' }, image, audio, pdf))
    expect(answerAnthropic(none, all).content[0]?.content).toEqual([
      { type: 'text', text: '(empty)' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } },
      { type: 'text', text: '[audio/wav, about 1 KB, cannot be shown here]' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: DATA } },
    ])
    expect(answerOpenAI(none, all)).toMatchObject([
      {
        output: [
          { type: 'input_text', text: '' },
          { type: 'input_image', image_url: `data:image/png;base64,${DATA}` },
          { type: 'input_text' },
          { type: 'input_file', filename: 'b.pdf' },
        ],
      },
    ])
    expect(answerOpenAIChat(none, all)[0]?.content).toContain('[image/png, about 1 KB, cannot be shown here]')
    expect(
      answerOpenAI(none, completedCalls(ok({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }))),
    ).toMatchObject([{ output: 'a\nb' }])
  })

  it('is the same after the AI SDK stored it as JSON', () => {
    const output = (outcome: Parameters<typeof outcomeToJson>[0]) =>
      toModelOutput({ output: JSON.parse(JSON.stringify(outcomeToJson(outcome))) })
    expect(output(ok({ type: 'text', text: 'a' }))).toEqual({ type: 'text', value: 'a' })
    expect(output(ok(image))).toMatchObject({ type: 'content', value: [{ type: 'file', mediaType: 'image/png' }] })
    expect(output({ status: 'tool-error', content: [{ type: 'text', text: 'bad' }] })).toEqual({
      type: 'error-text',
      value: 'bad',
    })
    const error = new HostError('denied', { detail: 'No.' })
    expect(output({ status: 'denied', error })).toMatchObject({ type: 'execution-denied' })
    expect(output({ status: 'failed', error })).toMatchObject({
      type: 'error-text',
      value: expect.stringContaining('No.'),
    })
    // An output of another tool in the history.
    expect(toModelOutput({ output: { some: 'thing' } })).toEqual({ type: 'json', value: { some: 'thing' } })
    expect(toModelOutput({ output: undefined })).toEqual({ type: 'json', value: null })
  })

  it('contains references to deferred tools for an Anthropic search, which are read again from messages', () => {
    const tools = ['a', 'b'].map((name) => ({ name }))
    const output = outcomeToJson({ ...ok({ type: 'text', text: 'found' }), structuredContent: { tools } })
    const references = toReferences(output, new Set(['b', 'c']))
    expect(references).toEqual({
      type: 'content',
      value: [{ type: 'custom', providerOptions: { anthropic: { type: 'tool-reference', toolName: 'b' } } }],
    })
    expect(toReferences(output, new Set())).toEqual({ type: 'text', value: 'found' })
    const theirs = { type: 'json', value: [{ type: 'tool_reference', toolName: 'd' }] }
    const messages = [
      { content: 'hello' },
      ...[references, theirs, { type: 'text', value: 'a' }].map((one) => ({
        content: [{ type: 'tool-result', output: one }],
      })),
    ]
    expect([...referencedInMessages(messages)]).toEqual(['b', 'd'])
  })
})
