import { describe, expect, it } from 'vitest'
import type { StoredMessage } from '../queries.ts'
import { chatMessages, dataOf, messageText, savedShare } from './chat-message.ts'

const message = (id: string, role: 'user' | 'assistant', text: string): StoredMessage => ({
  id,
  role,
  parts: [{ type: 'text', text }],
  createdAt: `2026-01-01T00:00:0${id}Z`,
})

describe('stored messages', () => {
  it('are shown in order across pages, with their times', () => {
    const pages = [
      { items: [message('4', 'assistant', 'D'), message('3', 'user', 'C')] },
      { items: [message('2', 'assistant', 'B'), message('1', 'user', 'A')] },
    ]
    const read = chatMessages(pages)
    expect(read.map(messageText)).toEqual(['A', 'B', 'C', 'D'])
    expect(read[0]?.metadata?.createdAt).toBe('2026-01-01T00:00:01Z')
  })

  it('are shown without an answer that failed at once', () => {
    const failed = { ...message('2', 'assistant', ''), parts: [{ type: 'data-selection', data: {} }] }
    const items = [message('4', 'assistant', 'B'), message('3', 'user', 'A'), failed, message('1', 'user', 'A')]
    expect(chatMessages([{ items }]).map(({ id }) => id)).toEqual(['1', '3', '4'])
  })

  it('return data parts by kind', () => {
    const parts: StoredMessage['parts'] = [
      { type: 'text', text: '' },
      { type: 'data-usage', data: { steps: 2, stopped: 'done' } },
    ]
    const read = chatMessages([{ items: [{ ...message('1', 'assistant', ''), parts }] }])
    expect(read.flatMap((one) => dataOf(one, 'usage'))).toEqual([{ steps: 2, stopped: 'done' }])
    expect(read.flatMap((one) => dataOf(one, 'selection'))).toEqual([])
  })
})

describe('the saved share of tokens', () => {
  it('is a fraction of the available tokens and never negative', () => {
    expect(savedShare({ before: 1000, after: 250 })).toBe(0.75)
    expect(savedShare({ before: 0, after: 0 })).toBe(0)
    expect(savedShare({ before: 100, after: 130 })).toBe(0)
  })
})
