import fc from 'fast-check'
import { expect, it } from 'vitest'
import { utf8Size } from './byte-size.ts'

it('utf8Size equals the encoded length of any text', () => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
  const half = fc.constantFrom('\uD83D', '\uDE00', '😀', 'a', 'ß', '漢')
  fc.assert(
    fc.property(fc.array(fc.oneof(unit, half)), (units) => {
      const text = units.join('')
      expect(utf8Size(text)).toBe(new TextEncoder().encode(text).length)
    }),
    { numRuns: 3000 },
  )
})
