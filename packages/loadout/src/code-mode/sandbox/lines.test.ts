import { expect, it } from 'vitest'
import { readLines } from './lines.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

it('readLines returns whole lines for any chunk size', () => {
  const whole = bytes('one\ntwo ü漢😀\u2028\n\nlast\n')
  for (let size = 1; size < 8; size++) {
    const received: string[] = []
    const lines = readLines(
      (line) => received.push(line),
      () => received.push('too long'),
    )
    for (let at = 0; at < whole.length; at += size) lines.take(whole.subarray(at, at + size))
    expect(received).toEqual(['one', 'two ü漢😀\u2028', '', 'last'])
  }
})

it('readLines reports a line that exceeds the maximum length', () => {
  let ended = 0
  const lines = readLines(
    () => {},
    () => ended++,
  )
  const chunk = new Uint8Array(1024 * 1024).fill(120)
  for (let i = 0; i < 33; i++) lines.take(chunk)
  expect(ended).toBe(1)
})
