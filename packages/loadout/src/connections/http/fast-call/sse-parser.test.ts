import { expect, it } from 'vitest'
import { SseParser } from './sse-parser.ts'

function read(pieces: string[]) {
  const events: string[] = []
  const lines = new SseParser((data, type) => void events.push(`${type}|${data}`))
  for (const piece of pieces) lines.feed(piece)
  return { events, lastEventId: lines.lastEventId, retryMs: lines.retryMs }
}

const STREAM =
  ': hello\n\nevent: message\nid: 7\ndata: {"a":\ndata:  1}\n\nretry: 30\n\ndata\n\nid: 8\n\nother: x\ndata:b\n\ndata: open'

it('EventLines reads fields, comments and multi-line data and ignores an unfinished event', () => {
  const expected = { events: ['message|{"a":\n 1}', '|', '|b'], lastEventId: '7', retryMs: 30 }
  expect(read([STREAM])).toEqual(expected)
  for (const end of ['\r\n', '\r']) expect(read([STREAM.replaceAll('\n', end)])).toEqual(expected)
})

it('EventLines reads the same events for any chunk size', () => {
  for (const end of ['\n', '\r\n', '\r'])
    for (let size = 1; size < 12; size++) {
      const text = STREAM.replaceAll('\n', end)
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.slice(i * size, (i + 1) * size),
      )
      expect(read(pieces)).toEqual(read([STREAM]))
    }
})

it('EventLines ignores an ID with NUL and a retry value that is not a number', () => {
  const { lastEventId, retryMs } = read(['id: a\0b\nretry: soon\ndata: x\n\n'])
  expect([lastEventId, retryMs]).toEqual([undefined, undefined])
})
