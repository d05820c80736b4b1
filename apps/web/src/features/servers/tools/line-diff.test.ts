import { describe, expect, it } from 'vitest'
import { diffLines, nearChanges } from './line-diff.ts'

const formatDiff = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => `${{ same: ' ', gone: '-', new: '+' }[kind]}${text}`)

describe('the line diff of two texts', () => {
  it('keeps common lines in order', () => {
    expect(formatDiff('a\nb\nc', 'a\nx\nc\nd')).toEqual([' a', '-b', '+x', ' c', '+d'])
    expect(formatDiff('', 'a')).toEqual(['+a'])
    expect(formatDiff('a\na', 'a')).toEqual([' a', '-a'])
    expect(formatDiff('same', 'same')).toEqual([' same'])
  })

  it('reproduces both texts', () => {
    const before = 'q\nw\ne\nr\nt'
    const after = 'w\nq\nr\ny\nt\nt'
    const lines = diffLines(before, after)
    const only = (not: string) =>
      lines
        .filter(({ kind }) => kind !== not)
        .map(({ text }) => text)
        .join('\n')
    expect([only('new'), only('gone')]).toEqual([before, after])
  })

  it('limits its work for long texts', () => {
    const long = Array.from({ length: 5000 }, (_, index) => index).join('\n')
    expect(diffLines(long, `${long}\nmore`)).toHaveLength(10_001)
  })

  it('shows only lines near a change', () => {
    const before = Array.from({ length: 9 }, (_, index) => `${index}`).join('\n')
    expect(nearChanges(diffLines(before, before.replace('8', 'x')), 1)).toEqual([
      'gap',
      { kind: 'same', text: '7' },
      { kind: 'gone', text: '8' },
      { kind: 'new', text: 'x' },
    ])
  })
})
