import { expect, it } from 'vitest'
import { lines, plain } from './failures.ts'

const COLOURED = '\u001B[31mFatal:\u001B[0m no \u001B[1;4mkey\u001B[0m'

it('a server’s words are told without the colours of a terminal, on one line and line by line', () => {
  expect(plain(`${COLOURED}\nand more`)).toBe('Fatal: no key and more')
  expect(lines(`${COLOURED}\r\nand more`)).toBe('Fatal: no key\nand more')
})
