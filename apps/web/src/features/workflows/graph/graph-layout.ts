/** Node positions from left to right in execution order. */
import { Graph, layout } from '@dagrejs/dagre'
import type { Definition } from '../definition/definition.ts'
import { edgesOf } from './graph.ts'

export const NODE_WIDTH = 188
export const NODE_HEIGHT = 56

export function layoutPositions(definition: Definition): Map<string, { x: number; y: number }> {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 24, ranksep: 56, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of definition.nodes) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT })
  for (const { from, to } of edgesOf(definition)) graph.setEdge(from, to)
  layout(graph)
  return new Map(
    definition.nodes.map(({ id }) => {
      const { x, y } = graph.node(id) as { x: number; y: number }
      return [id, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }]
    }),
  )
}
