import { describe, expect, it } from 'vitest'
import { readVariables, variablesIn } from './variables.ts'

const names = (text: string) => [...variablesIn(readVariables(text).parts)].map((variable) => variable.name)

describe('variables in a text', () => {
  it('are read in the spellings of all supported apps', () => {
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

  it('can have a default that contains other variables', () => {
    const [variable] = readVariables('${BASE:-https://a.example/${ID:-7}}/x').parts
    expect(variable).toMatchObject({ name: 'BASE', fallback: ['https://a.example/', { name: 'ID', fallback: ['7'] }] })
    expect(readVariables('${A:-}').parts).toMatchObject([{ name: 'A', fallback: [] }])
    expect(readVariables('${A:-{"b":1}}').parts).toMatchObject([{ name: 'A', fallback: ['{"b":1'] }, '}'])
  })

  it('stay as text when unclosed, and variables inside are read', () => {
    expect(readVariables('x ${ y ${A} z')).toMatchObject({
      unclosed: true,
      parts: ['x ', '${', ' y ', { name: 'A' }, ' z'],
    })
    expect(readVariables('${').parts).toEqual(['${'])
  })

  it('have no name when the name is empty or invalid', () => {
    for (const text of ['${}', '${ }', '${${A}}', '${a${B}}', '${a\u200b}', `\${${'x'.repeat(201)}}`])
      expect([text, names(text)[0]]).toEqual([text, undefined])
    expect(names('${a:-'.repeat(20) + '}'.repeat(20)).filter((name) => name === undefined)).toHaveLength(1)
  })

  it('stay few in a long hostile text', () => {
    for (const text of ['${'.repeat(500_000), '${a:-'.repeat(200_000) + '}'.repeat(200_000), '}'.repeat(1_000_000)])
      expect([...variablesIn(readVariables(text).parts)].length).toBeLessThan(10)
  })
})
