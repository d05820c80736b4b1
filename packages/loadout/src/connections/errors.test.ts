import { expect, it } from 'vitest'
import { sanitizeOutput, sanitizeText } from './errors.ts'

const COLOURED = '\u001B[31mFatal:\u001B[0m no \u001B[1;4mkey\u001B[0m'

it('server messages are shown without terminal colors, on one line or line by line', () => {
  expect(sanitizeText(`${COLOURED}\nand more`)).toBe('Fatal: no key and more')
  expect(sanitizeOutput(`${COLOURED}\r\nand more`)).toBe('Fatal: no key\nand more')
})
