import { describe, expect, it } from 'vitest'
import type { StdioTemplate, TemplateHole } from '../queries.ts'
import { newSecret, type SecretRow } from './draft.ts'
import { mistakeIn, rowsFor, valueMistakes } from './template-values.ts'

const text = { type: 'string', maxLength: 5, secret: true } as const
const CASES: Array<[hole: TemplateHole, good: string[], bad: string[]]> = [
  [text, ['a', 'abcde'], ['', '  ', 'abcdef']],
  [{ ...text, maxLength: 50, pattern: '[a-z]+' }, ['abc'], ['ABC', 'abc1']],
  [{ ...text, pattern: '(?<broken' }, ['x'], ['']],
  [{ type: 'integer', min: -1, max: 9 }, ['-1', '9', '0'], ['1.5', 'x', '-2', '10', '']],
  [{ type: 'enum', values: ['repos', 'issues'] }, ['repos'], ['', 'other']],
  [{ type: 'url', maxLength: 100 }, ['https://a.example/x'], ['a.example', 'ftp://a.example', '']],
  [
    { type: 'path', roots: ['/srv/notes/', '/data'], maxLength: 100 },
    ['/srv/notes/a', '/data'],
    ['srv', '/srv/notesx', '/etc', ''],
  ],
]

describe('a template value', () => {
  for (const [hole, good, bad] of CASES)
    it(`is validated by type ${hole.type} ${JSON.stringify(hole)}`, () => {
      for (const value of good) expect(mistakeIn(hole, value), value).toBeUndefined()
      for (const value of bad) expect(mistakeIn(hole, value), value).toMatch(/^(Give|Choose|This)/)
    })
})

describe('the rows of a template', () => {
  const template: StdioTemplate = {
    id: 'github',
    holes: [
      { name: 'org', hole: text },
      { name: 'token', hole: text },
    ],
  }

  it('list its inputs in order with their stored values', () => {
    const storedRows: SecretRow[] = [
      { key: 7, name: 'token', value: { stored: '${secret:values.token}', replaced: false, text: '' } },
    ]
    const rows = rowsFor(template, storedRows)
    expect(rows.map(({ key, name }) => [key, name])).toEqual([
      [0, 'org'],
      [1, 'token'],
    ])
    expect(rows[1]?.value).toBe(storedRows[0]?.value)
    // A stored value is valid; an empty one is not.
    expect(valueMistakes(template, rows)).toEqual({ 'values#0': 'Give a value.' })
    const replaced = rows.map((row) => ({ ...row, value: { ...newSecret(), stored: 'x', replaced: true, text: '' } }))
    expect(Object.keys(valueMistakes(template, replaced))).toEqual(['values#0', 'values#1'])
  })
})
