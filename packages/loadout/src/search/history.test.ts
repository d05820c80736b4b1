import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { historyInput } from '../schema/toolkit/selection.ts'
import { parseHistory } from './history.ts'

describe('a message history', () => {
  it.each([
    ['plain texts', ['one', 'two'], []],
    ['AI SDK', [{ role: 'assistant', content: [{ type: 'tool-call', toolName: 'mcp_a_b', input: {} }] }], ['mcp_a_b']],
    ['AI SDK UI', [{ role: 'assistant', parts: [{ type: 'tool-mcp_a_b', toolCallId: '1' }] }], ['mcp_a_b']],
    ['Anthropic', [{ role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'mcp_a_b' }] }], ['mcp_a_b']],
    [
      'OpenAI chat',
      [{ role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'mcp_a_b' } }] }],
      ['mcp_a_b'],
    ],
    ['OpenAI responses', [{ type: 'function_call', name: 'mcp_a_b', arguments: '{}' }], ['mcp_a_b']],
  ])('lists the called tools of %s', (_name, history, called) => {
    expect([...parseHistory(historyInput.parse(history)).called]).toEqual(called)
  })

  it('returns the last texts, newest first, without tool results', () => {
    const { text } = parseHistory([
      { role: 'user', content: 'find my flights' },
      { role: 'tool', content: 'ignore me' },
      { role: 'assistant', content: [{ type: 'text', text: 'which day?' }] },
    ])
    expect(text).toBe('which day?\nfind my flights')
  })

  it('with any content is read within its limits', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.dictionary(fc.constantFrom('role', 'content', 'parts', 'tool_calls', 'type', 'name'), fc.jsonValue()),
          ),
        ),
        (messages) => {
          const read = historyInput.safeParse(messages)
          if (read.success) expect(parseHistory(read.data).text.length).toBeLessThanOrEqual(2000)
        },
      ),
    ))
})
