import { expect, it } from 'vitest'
import { SseParser } from './sse-parser.ts'

function read(pieces: string[]) {
  const events: string[] = []
  const parser = new SseParser((data, type) => void events.push(`${type}|${data}`))
  for (const piece of pieces) parser.feed(piece)
  return { events, lastEventId: parser.lastEventId, retryMs: parser.retryMs }
}

const STREAM =
  ': hello\n\nevent: message\nid: 7\ndata: {"a":\ndata:  1}\n\nretry: 30\n\ndata\n\nid: 8\n\nother: x\ndata:b\n\ndata: open'

it('SseParser reads fields, comments and multi-line data and ignores an unfinished event', () => {
  const expected = { events: ['message|{"a":\n 1}', '|', '|b'], lastEventId: '7', retryMs: 30 }
  expect(read([STREAM])).toEqual(expected)
  for (const end of ['\r\n', '\r']) expect(read([STREAM.replaceAll('\n', end)])).toEqual(expected)
})

it('SseParser reads the same events for any chunk size', () => {
  for (const end of ['\n', '\r\n', '\r'])
    for (let size = 1; size < 12; size++) {
      const text = STREAM.replaceAll('\n', end)
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.slice(i * size, (i + 1) * size),
      )
      expect(read(pieces)).toEqual(read([STREAM]))
    }
})

it('SseParser ignores an ID with NUL and a retry value that is not a number', () => {
  const { lastEventId, retryMs } = read(['id: a\0b\nretry: soon\ndata: x\n\n'])
  expect([lastEventId, retryMs]).toEqual([undefined, undefined])
})

it('SseParser reports an event with its blank line, also when lines end with CR', () => {
  expect(read(['data: a\r\r']).events).toEqual(['|a'])
  expect(read(['data: a\r', '\r', '\n', 'data: b\r\n\r']).events).toEqual(['|a', '|b'])
})

it('SseParser ignores unknown fields and refuses a chunk with too many of them', () => {
  expect(read(['x\n'.repeat(1000), 'x\n'.repeat(1000), 'data: a\n\n']).events).toEqual(['|a'])
  expect(() => read(['x\n'.repeat(1001)])).toThrow(expect.objectContaining({ code: 'protocol-error' }))
})
