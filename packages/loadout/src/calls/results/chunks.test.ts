import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Chunks, countLineEnds, divide, readCharacters, readLines, readPage } from './chunks.ts'

const piecesOf = (text: string, size: number): Chunks => {
  const pieces = divide(text, size)
  return {
    count: pieces.length,
    size,
    characters: text.length,
    lines: countLineEnds(text) + 1,
    at: async (seq) => pieces[seq],
  }
}
const isCut = (text: string) => /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(text)

/** Lines shorter and longer than a piece, empty ones, and characters that take two places. */
const line = fc.string({ unit: fc.constantFrom('a', 'ß', '漢', '😀', '"'), maxLength: 12 })
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'))
const size = fc.integer({ min: 2, max: 9 })
const many = { numRuns: 2000 }

describe('a text split into chunks of any size', () => {
  it('is complete when joined, and no chunk is too long or splits a character', async () => {
    await fc.assert(
      fc.asyncProperty(text, size, async (given, most) => {
        const pieces = divide(given, most)
        expect(pieces.map((piece) => piece.text).join('')).toBe(given)
        for (const piece of pieces) {
          expect(piece.text.length).toBeLessThanOrEqual(most)
          expect(isCut(piece.text)).toBe(false)
          expect(given.slice(piece.firstCharacter).startsWith(piece.text)).toBe(true)
          expect(countLineEnds(given.slice(0, piece.firstCharacter))).toBe(piece.firstLine)
        }
      }),
      many,
    )
  })

  it('is read by offset with the right next offset and without split characters', async () => {
    const range = fc.record({ offset: fc.nat(160), limit: fc.integer({ min: 1, max: 40 }) })
    await fc.assert(
      fc.asyncProperty(text, size, range, async (given, most, { offset, limit }) => {
        const pieces = piecesOf(given, most)
        expect(await readCharacters(pieces, offset, limit)).toBe(given.slice(offset, offset + limit))
        let read = ''
        for (let at: number | undefined = 0; at !== undefined; ) {
          const page = await readPage(pieces, at, limit)
          expect(isCut(page.text)).toBe(false)
          expect(page.text.length).toBeLessThanOrEqual(Math.max(2, limit))
          read += page.text
          at = page.nextOffset
        }
        expect(read).toBe(given)
      }),
      many,
    )
  })

  it('is read by line with the right next line', async () => {
    const range = fc.record({ from: fc.integer({ min: 1, max: 15 }), lines: fc.integer({ min: 1, max: 15 }) })
    await fc.assert(
      fc.asyncProperty(text, size, range, async (given, most, { from, lines }) => {
        const expected = given.split('\n')
        const part = await readLines(piecesOf(given, most), { from, lines, most: 10_000 })
        expect(part.text).toBe(expected.slice(from - 1, from - 1 + lines).join('\n'))
        expect(part.nextLine).toBe(from + lines <= expected.length ? from + lines : undefined)
        expect(part.nextOffset).toBeUndefined()
      }),
      many,
    )
  })

  it('is read by line up to the length limit and continues at the cut', async () => {
    const range = fc.record({ from: fc.integer({ min: 1, max: 12 }), longest: fc.integer({ min: 2, max: 30 }) })
    await fc.assert(
      fc.asyncProperty(text, size, range, async (given, most, { from, longest }) => {
        const expected = given.split('\n').slice(from - 1)
        const asked = expected.slice(0, 3).join('\n')
        const pieces = piecesOf(given, most)
        const part = await readLines(pieces, { from, lines: 3, most: longest })
        expect(part.text.length).toBeLessThanOrEqual(longest)
        expect(isCut(part.text)).toBe(false)
        if (part.nextOffset === undefined) expect(part.text).toBe(asked)
        else expect(part.text + given.slice(part.nextOffset)).toBe(expected.join('\n'))
      }),
      many,
    )
  })

  it('keeps its length when characters that databases reject are replaced', () => {
    const pieces = divide('a\0b\uD800c\uDC00', 3)
    expect(pieces.map((piece) => piece.text)).toEqual(['a\uFFFDb', '\uFFFDc\uFFFD'])
  })

  it('fails with not-found when a chunk is missing', async () => {
    const gone: Chunks = { ...piecesOf('a\nb\nc\nd', 2), at: async () => undefined }
    await expect(readPage(gone, 0, 10)).rejects.toMatchObject({ code: 'not-found' })
    await expect(readLines(gone, { from: 2, lines: 1, most: 10 })).rejects.toMatchObject({ code: 'not-found' })
  })
})
