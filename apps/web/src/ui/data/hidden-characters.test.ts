import { expect, it } from 'vitest'
import { segmentsOf } from './hidden-characters.ts'

const markHidden = (text: string) =>
  segmentsOf(text)
    .map(({ text, hidden }) => (hidden ? `[${text}]` : text))
    .join('')

it.each([
  ['plain text, ünïcödé, 漢字, שלום', 'plain text, ünïcödé, 漢字, שלום'],
  ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
  ['rm \u202Efdp.exe', 'rm [\\u202e]fdp.exe'],
  ['a\u2066\u2069b', 'a[\\u2066\\u2069]b'],
  ['zero\u200Bwidth', 'zero[\\u200b]width'],
  ['bell\u0007 and \u001B[31m', 'bell[\\u0007] and [\\u001b][31m'],
  ['tag \u{E0041}', 'tag [\\udb40\\udc41]'],
  ['👩‍👧 family', '👩‍👧 family'],
  ['a\u200Db', 'a[\\u200d]b'],
  ['', ''],
])('shows %j as %j', (text, expected) => {
  expect(markHidden(text)).toBe(expected)
})
