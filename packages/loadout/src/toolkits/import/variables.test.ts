import { describe, expect, it } from 'vitest'
import { readTemplate, variablesIn } from './variables.ts'

const names = (text: string) => [...variablesIn(readTemplate(text).parts)].map((variable) => variable.name)

describe('variables in a text', () => {
  it('are read in the spellings of the apps', () => {
    expect(names('${GITHUB_TOKEN}')).toEqual(['GITHUB_TOKEN'])
    expect(names('Bearer ${env:TOKEN} ${input:api-key}')).toEqual(['TOKEN', 'api-key'])
    expect(names('${userHome}${/}${pathSeparator}${workspaceFolder}')).toEqual([
      'userHome',
      'pathSeparator',
      'pathSeparator',
      'workspaceFolder',
    ])
    expect(names('$HOME $(x) {a} } $ { {{b}}')).toEqual([])
  })

  it('a default is a text of its own', () => {
    const [variable] = readTemplate('${BASE:-https://a.example/${ID:-7}}/x').parts
    expect(variable).toMatchObject({ name: 'BASE', fallback: ['https://a.example/', { name: 'ID', fallback: ['7'] }] })
    expect(readTemplate('${A:-}').parts).toMatchObject([{ name: 'A', fallback: [] }])
    expect(readTemplate('${A:-{"b":1}}').parts).toMatchObject([{ name: 'A', fallback: ['{"b":1'] }, '}'])
  })

  it('what is not closed stays, and what is inside it is read', () => {
    expect(readTemplate('x ${ y ${A} z')).toMatchObject({
      unclosed: true,
      parts: ['x ', '${', ' y ', { name: 'A' }, ' z'],
    })
    expect(readTemplate('${').parts).toEqual(['${'])
  })

  it('what names nothing has no name', () => {
    for (const text of ['${}', '${ }', '${${A}}', '${a${B}}', '${a\u200b}', `\${${'x'.repeat(201)}}`])
      expect([text, names(text)[0]]).toEqual([text, undefined])
    expect(names('${a:-'.repeat(20) + '}'.repeat(20)).filter((name) => name === undefined)).toHaveLength(1)
  })

  it('a hostile text costs no more than its length', () => {
    for (const text of ['${'.repeat(500_000), '${a:-'.repeat(200_000) + '}'.repeat(200_000), '}'.repeat(1_000_000)])
      expect([...variablesIn(readTemplate(text).parts)].length).toBeLessThan(10)
  })
})
