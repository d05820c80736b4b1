import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Chunks, countLineEnds, divide, readCharacters, readPage, readResultLines } from './chunks.ts'

const chunksOf = (text: string, size: number): Chunks => {
  const chunks = divide(text, size)
  return {
    count: chunks.length,
    size,
    characters: text.length,
    lines: countLineEnds(text) + 1,
    at: async (seq) => chunks[seq],
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
      fc.asyncProperty(text, size, async (input, most) => {
        const chunks = divide(input, most)
        expect(chunks.map((chunk) => chunk.text).join('')).toBe(input)
        for (const chunk of chunks) {
          expect(chunk.text.length).toBeLessThanOrEqual(most)
          expect(isCut(chunk.text)).toBe(false)
          expect(input.slice(chunk.firstCharacter).startsWith(chunk.text)).toBe(true)
          expect(countLineEnds(input.slice(0, chunk.firstCharacter))).toBe(chunk.firstLine)
        }
      }),
      many,
    )
  })

  it('is read by offset with the right next offset and without split characters', async () => {
    const range = fc.record({ offset: fc.nat(160), limit: fc.integer({ min: 1, max: 40 }) })
    await fc.assert(
      fc.asyncProperty(text, size, range, async (input, most, { offset, limit }) => {
        const chunks = chunksOf(input, most)
        expect(await readCharacters(chunks, offset, limit)).toBe(input.slice(offset, offset + limit))
        let read = ''
        for (let at: number | undefined = 0; at !== undefined; ) {
          const page = await readPage(chunks, at, limit)
          expect(isCut(page.text)).toBe(false)
          expect(page.text.length).toBeLessThanOrEqual(Math.max(2, limit))
          read += page.text
          at = page.nextOffset
        }
        expect(read).toBe(input)
      }),
      many,
    )
  })

  it('is read by line with the right next line', async () => {
    const range = fc.record({ from: fc.integer({ min: 1, max: 15 }), lines: fc.integer({ min: 1, max: 15 }) })
    await fc.assert(
      fc.asyncProperty(text, size, range, async (input, most, { from, lines }) => {
        const expected = input.split('\n')
        const part = await readResultLines(chunksOf(input, most), { from, lines, most: 10_000 })
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
      fc.asyncProperty(text, size, range, async (input, most, { from, longest }) => {
        const expected = input.split('\n').slice(from - 1)
        const expectedLines = expected.slice(0, 3).join('\n')
        const chunks = chunksOf(input, most)
        const part = await readResultLines(chunks, { from, lines: 3, most: longest })
        expect(part.text.length).toBeLessThanOrEqual(longest)
        expect(isCut(part.text)).toBe(false)
        if (part.nextOffset === undefined) expect(part.text).toBe(expectedLines)
        else expect(part.text + input.slice(part.nextOffset)).toBe(expected.join('\n'))
      }),
      many,
    )
  })

  it('keeps its length when characters that databases reject are replaced', () => {
    const chunks = divide('a\0b\uD800c\uDC00', 3)
    expect(chunks.map((chunk) => chunk.text)).toEqual(['a\uFFFDb', '\uFFFDc\uFFFD'])
  })

  it('fails with not-found when a chunk is missing', async () => {
    const gone: Chunks = { ...chunksOf('a\nb\nc\nd', 2), at: async () => undefined }
    await expect(readPage(gone, 0, 10)).rejects.toMatchObject({ code: 'not-found' })
    await expect(readResultLines(gone, { from: 2, lines: 1, most: 10 })).rejects.toMatchObject({ code: 'not-found' })
  })
})
