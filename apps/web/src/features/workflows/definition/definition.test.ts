import { describe, expect, it } from 'vitest'
import { nextTo } from '../editor/next-node.ts'
import { beforeOf, behindOf, edgesOf, graphRows, nodeOwners } from '../graph/graph.ts'
import {
  addNode,
  type Definition,
  duplicateNode,
  freeId,
  moveNode,
  namedIn,
  newNode,
  removeNode,
  renameNode,
} from './definition.ts'
import { suggestionsFor } from './suggestions.ts'

const report: Definition = {
  name: 'report',
  input: { type: 'object', properties: { city: { type: 'string' }, 'a-b': { type: 'number' } } },
  nodes: [
    { id: 'find', type: 'tool', ref: 'web.search', arguments: { query: 'about {{ input.city }}' } },
    { id: 'findings', type: 'code', program: 'return 1' },
    { id: 'each', type: 'map', over: 'nodes.find.output.items', node: 'page' },
    { id: 'page', type: 'tool', ref: 'web.read', arguments: { url: '{{ item.url }}' }, onError: { node: 'other' } },
    { id: 'other', type: 'code', program: 'return null', input: '{{ error.message }}' },
    { id: 'ok', type: 'branch', when: 'size(nodes.each.output) > 0', onTrue: ['send'], onFalse: ['findings'] },
    { id: 'send', type: 'tool', ref: 'mail.send', arguments: { pages: '{{ nodes["each"].output }}' }, after: ['find'] },
  ],
  output: { sent: '{{ nodes.send.output }}', found: '{{ nodes.find.output }}' },
}

describe('editing a definition', () => {
  it('renames a node in every reference and no other node', () => {
    const renamed = renameNode(report, 'find', 'seek')
    expect(renamed.nodes.map(({ id }) => id)).toEqual(['seek', 'findings', 'each', 'page', 'other', 'ok', 'send'])
    expect(renamed.nodes[2]).toMatchObject({ over: 'nodes.seek.output.items' })
    expect(renamed.nodes[6]).toMatchObject({ after: ['seek'] })
    expect(renamed.output).toEqual({ sent: '{{ nodes.send.output }}', found: '{{ nodes.seek.output }}' })
    const each = renameNode(renameNode(report, 'each', 'all'), 'page', 'one')
    expect(each.nodes[2]).toMatchObject({ id: 'all', node: 'one' })
    expect(each.nodes[6]).toMatchObject({ arguments: { pages: '{{ nodes["all"].output }}' } })
    expect(renameNode(report, 'other', 'else').nodes[3]).toMatchObject({ onError: { node: 'else' } })
    expect(renameNode(report, 'send', 'post').nodes[5]).toMatchObject({ onTrue: ['post'], onFalse: ['findings'] })
  })

  it('removes a node from every list and leaves expressions to the check', () => {
    const without = removeNode(removeNode(report, 'send'), 'page')
    expect(without.nodes.find(({ id }) => id === 'ok')).toMatchObject({ onTrue: [] })
    expect(without.nodes.find(({ id }) => id === 'each')).toMatchObject({ node: '' })
    expect(removeNode(report, 'other').nodes[3]).toMatchObject({ onError: 'fail' })
    expect(without.output).toEqual(report.output)
  })

  it('moves, adds and copies nodes in place', () => {
    expect(
      moveNode(report, 'each', -1)
        .nodes.map(({ id }) => id)
        .slice(0, 3),
    ).toEqual(['find', 'each', 'findings'])
    expect(moveNode(report, 'find', -1)).toBe(report)
    expect(addNode(report, newNode(report, 'approval'), 'find').nodes[1]).toMatchObject({ id: 'ask', type: 'approval' })
    const copy = duplicateNode(report, 'find')
    expect([copy.id, copy.definition.nodes[1]]).toEqual(['find_copy', { ...report.nodes[0], id: 'find_copy' }])
    expect(freeId(report, 'find')).toBe('find_2')
    expect(freeId(report, '3 Büros!')).toBe('B_ros_')
    expect(freeId(report, '??')).toBe('node')
  })

  it('finds the nodes that expressions reference', () => {
    expect(namedIn({ a: ['{{ nodes.x.output }} and {{ nodes["y"].output }}'], b: 'mynodes.z' })).toEqual(['x', 'y'])
  })
})

describe('the graph of a definition', () => {
  it('has one edge between two nodes for dependency, branch, map and fallback', () => {
    const lines = edgesOf(report).map(({ from, to, kind }) => `${from} ${kind} ${to}`)
    expect(lines.sort()).toEqual([
      'each after ok',
      'each after send',
      'each each page',
      'find after each',
      'find after send',
      'ok false findings',
      'ok true send',
      'page instead other',
    ])
    expect([...nodeOwners(report)]).toEqual([
      ['page', 'each'],
      ['other', 'page'],
    ])
    expect([graphRows(report), graphRows({ ...report, nodes: [] })]).toEqual([3, 0])
    const ring: Definition['nodes'] = ['a', 'b'].map((id) => ({
      id,
      type: 'code',
      program: '',
      after: [id === 'a' ? 'b' : 'a'],
    }))
    expect(graphRows({ ...report, nodes: ring })).toBe(1)
    expect([...beforeOf(report, 'send')].sort()).toEqual(['each', 'find', 'ok'])
    expect([...behindOf(report, 'each')].sort()).toEqual(['findings', 'ok', 'other', 'page', 'send'])
  })

  it('suggests readable outputs, and not those of nodes that depend on the node', () => {
    const of = (id: string) => suggestionsFor(report, id, () => undefined).map(({ expression }) => expression)
    expect(of('ok')).toEqual([
      'input.city',
      'input["a-b"]',
      'nodes.find.output',
      'nodes.each.output',
      'run.id',
      'run.startedAt',
    ])
    expect(of('page').slice(0, 2)).toEqual(['item', 'index'])
    expect(of('other')[0]).toBe('error.message')
    const schema = { type: 'object', properties: { items: { type: 'array' } } }
    const suggestions = suggestionsFor(report, 'each', (ref) => (ref === 'web.search' ? schema : undefined))
    expect(suggestions).toContainEqual({ expression: 'nodes.find.output.items', about: 'array' })
  })

  it('moves to the nearest node in the direction of an arrow key', () => {
    const positions = new Map([
      ['a', { x: 0, y: 0 }],
      ['b', { x: 200, y: 0 }],
      ['c', { x: 200, y: 90 }],
      ['d', { x: 400, y: 0 }],
    ])
    expect(nextTo(positions, 'a', 'ArrowRight')).toBe('b')
    expect(nextTo(positions, 'b', 'ArrowDown')).toBe('c')
    expect(nextTo(positions, 'd', 'ArrowLeft')).toBe('b')
    expect(nextTo(positions, 'a', 'ArrowLeft')).toBeUndefined()
    expect(nextTo(positions, 'a', 'Enter')).toBeUndefined()
  })
})
