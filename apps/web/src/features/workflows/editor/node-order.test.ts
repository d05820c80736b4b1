import { describe, expect, it } from 'vitest'
import { type Definition, newNode } from '../definition/definition.ts'
import { addBelow, changeInOrder, duplicateBelow, removeInOrder } from './node-order.ts'

const empty: Definition = { name: 'order', nodes: [] }
const added = (definition: Definition, kind: 'tool' | 'map' | 'branch', chosen?: string) =>
  addBelow(definition, newNode(definition, kind), chosen)
const order = ({ nodes }: Definition) => nodes.map(({ id, after }) => [id, ...(after ?? [])].join(' < '))
const row = added(added(added(empty, 'tool'), 'tool'), 'tool')

describe('the node order of a list', () => {
  it('follows the order in which nodes are added', () => {
    expect(order(row)).toEqual(['call', 'call_2 < call', 'call_3 < call_2'])
    expect(order(added(row, 'tool', 'call'))).toEqual(['call', 'call_4 < call', 'call_2 < call_4', 'call_3 < call_2'])
    expect(order(duplicateBelow(row, 'call_3').definition).at(-1)).toBe('call_3_copy < call_3')
  })

  it('has no gap after a node is removed', () => {
    expect(order(removeInOrder(row, 'call_2'))).toEqual(['call', 'call_3 < call'])
    expect(order(removeInOrder(row, 'call'))).toEqual(['call_2', 'call_3 < call_2'])
  })

  it('excludes the node that a map runs and includes it again afterwards', () => {
    const mapped = changeInOrder(added(row, 'map'), 'each', { node: 'call_2' })
    expect(order(mapped)).toEqual(['call', 'call_2', 'call_3 < call', 'each < call_3'])
    const late = added(mapped, 'tool')
    expect(order(changeInOrder(late, 'each', { node: 'call_3' }))).toEqual([
      'call',
      'call_2 < each',
      'call_3',
      'each < call',
      'call_4 < each',
    ])
  })

  it('places a node after a map behind the map, not behind the mapped node', () => {
    const below = added(added(added(empty, 'tool'), 'map'), 'tool')
    const mapped = changeInOrder(below, 'each', { node: 'call_2' })
    expect(order(mapped)).toEqual(['call', 'each < call', 'call_2'])
    expect(order(added(mapped, 'tool'))).toEqual(['call', 'each < call', 'call_2', 'call_3 < each'])
    expect(order(changeInOrder(mapped, 'each', { node: '' }))).toEqual(['call', 'each < call', 'call_2 < each'])
    expect(order(removeInOrder(mapped, 'each'))).toEqual(['call', 'call_2 < call'])
    const other = changeInOrder(mapped, 'call_2', { onError: { node: 'call' } })
    expect(order(other)).toEqual(['call', 'each', 'call_2'])
  })

  it('is separate for each side of a branch', () => {
    const both = added(added(added(empty, 'branch'), 'tool'), 'tool')
    expect(order(both)).toEqual(['decide', 'call < decide', 'call_2 < call'])
    const chosen = changeInOrder(changeInOrder(both, 'decide', { onTrue: ['call'] }), 'decide', { onFalse: ['call_2'] })
    expect(order(chosen)).toEqual(['decide', 'call < decide', 'call_2'])
    expect(order(added(chosen, 'tool', 'decide')).slice(1)).toEqual(['call_3 < decide', 'call < decide', 'call_2'])
    const late = changeInOrder(added(row, 'branch'), 'decide', { onTrue: ['call_3'] })
    expect(order(late).slice(2)).toEqual(['call_3 < call_2', 'decide < call_2'])
  })
})
