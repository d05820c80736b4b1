import { expect, it } from 'vitest'
import { expressionIn, inserted } from '../editor/fields/expression.ts'
import { inputRows, newRow, schemaOf } from '../editor/fields/input-fields.ts'
import type { Definition } from './definition.ts'
import { atField, movedWith, notAt, ofNode, ofWorkflow } from './problems.ts'
import { readDefinition } from './read-definition.ts'

const problems = [
  { path: 'name', message: 'must not be empty' },
  { path: 'nodes.0.arguments.city', message: "in node 'a': there is no 'input.town'" },
  { path: 'nodes.10.ref', message: 'must be "toolkit.tool"' },
  { path: 'nodes.1', message: 'is in a cycle' },
]

it('the problem list places problems at nodes and fields', () => {
  expect(ofWorkflow(problems).map(({ field }) => field)).toEqual(['name'])
  expect(atField(ofNode(problems, 0), 'arguments')).toBe("There is no 'input.town'.")
  expect(atField(ofWorkflow(problems), 'name')).toBe('Name must not be empty.')
  expect(ofNode(problems, 1).map(({ path }) => path)).toEqual(['nodes.1'])
  expect(notAt(ofNode(problems, 1), ['ref'])).toHaveLength(1)
  expect(ofNode(problems, 10)).toHaveLength(1)
})

it('problems move with their nodes and are removed with them', () => {
  const node = (id: string) => ({ id, type: 'code' as const, program: '' })
  const before: Definition = { name: '', nodes: [node('a'), node('b')] }
  const after: Definition = { name: '', nodes: [node('b'), node('a')] }
  expect(movedWith(problems.slice(0, 2), before, after).map(({ path }) => path)).toEqual([
    'name',
    'nodes.1.arguments.city',
  ])
  expect(movedWith(problems.slice(1, 2), before, { name: '', nodes: [node('b')] })).toEqual([])
})

it('expressionIn distinguishes a single expression from text with expressions', () => {
  expect(expressionIn('{{ input.city }}')).toBe('input.city')
  expect(expressionIn('{{ a }} and {{ b }}')).toBeUndefined()
  expect(expressionIn('in {{ a }}')).toBeUndefined()
  expect(expressionIn(3)).toBeUndefined()
  expect(inserted('ab', '{{ x }}', { from: 1, to: 1 })).toBe('a{{ x }}b')
})

it('inputs are converted to rows and back, and unsupported schemas stay in JSON', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Where', default: 'Rome' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['city'],
  }
  const rows = inputRows(schema) ?? []
  expect(schemaOf(rows, schema)).toEqual(schema)
  expect(newRow(rows)).toMatchObject({ key: 2, name: 'input_3' })
  expect(schemaOf([{ ...newRow([]), type: 'number', rest: { items: {} } }])).toEqual({
    type: 'object',
    properties: { input_1: { type: 'number' } },
    required: ['input_1'],
  })
  expect(inputRows({ type: 'object', oneOf: [] })).toBeUndefined()
  expect(inputRows({ type: 'object', properties: { a: { $ref: '#/$defs/a' } } })).toBeUndefined()
})

it('readDefinition parses the text of a definition or reports the reason', () => {
  expect(readDefinition('{')).toMatchObject({ problem: expect.stringContaining('not JSON') })
  expect(readDefinition('[]')).toMatchObject({ problem: expect.stringContaining('object') })
  expect(readDefinition('{"nodes":[{"id":"a","type":"dance"}]}')).toMatchObject({
    problem: expect.stringContaining('Node 1'),
  })
  expect(readDefinition('{"name":"x","nodes":[{"id":"a","type":"tool"}]}')).toEqual({
    definition: { name: 'x', nodes: [{ id: 'a', type: 'tool', ref: '' }] },
  })
  expect(readDefinition('{"id":"wf_1","definition":{"name":"y","nodes":[]}}')).toEqual({
    definition: { name: 'y', nodes: [] },
  })
})
