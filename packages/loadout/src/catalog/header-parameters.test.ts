import { describe, expect, it } from 'vitest'
import { headerProblem } from './header-parameters.ts'
import { readManifests } from './read-manifests.ts'

const schema = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const mirrored = (header: unknown, type: unknown = 'string') => schema({ p: { type, 'x-mcp-header': header } })

describe('header parameters', () => {
  it.each([
    ['none', schema({ p: { type: 'string' } })],
    ['a text', mirrored('Region')],
    ['a whole number', mirrored('Count', 'integer')],
    ['a boolean', mirrored('Verbose', 'boolean')],
    [
      'one inside another',
      schema({ o: { type: 'object', properties: { p: { type: 'string', 'x-mcp-header': 'P' } } } }),
    ],
    ['a property of that name', schema({ 'x-mcp-header': { type: 'string' } })],
  ])('accepts %s', (_name, value) => {
    expect(headerProblem(value)).toBeUndefined()
  })

  it.each([
    ['an empty name', mirrored('')],
    ['no text', mirrored(5)],
    ['a space', mirrored('My Region')],
    ['a colon', mirrored('A:B')],
    ['other letters', mirrored('Région')],
    ['a control character', mirrored('A\nB')],
    ['an object', mirrored('O', 'object')],
    ['an array', mirrored('A', 'array')],
    ['null', mirrored('N', 'null')],
    ['a number', mirrored('N', 'number')],
    ['several types', mirrored('N', ['string', 'null'])],
    [
      'the same twice',
      schema({ a: { type: 'string', 'x-mcp-header': 'X' }, b: { type: 'string', 'x-mcp-header': 'x' } }),
    ],
    ['items', schema({ l: { type: 'array', items: { type: 'string', 'x-mcp-header': 'X' } } })],
    ['a branch', schema({}, { anyOf: [mirrored('X')] })],
    ['the whole', { ...schema({}), 'x-mcp-header': 'X' }],
  ])('rejects %s', (_name, value) => {
    expect(headerProblem(value)).toBeDefined()
  })

  it('skip a tool with an invalid header and keep the other tools', async () => {
    const read = await readManifests([
      { name: 'bad', inputSchema: mirrored('A B') },
      { name: 'good', inputSchema: mirrored('A') },
    ])
    expect(read.manifests.map(({ name }) => name)).toEqual(['good'])
    expect(read.setAside).toEqual([{ name: 'bad', reason: expect.stringContaining('header') }])
  })
})
