/** Derives graph edges from a definition: order, branches, and nodes that other nodes run. */
import { type Definition, namedIn, textsOf, type WorkflowNode } from '../definition/definition.ts'

export type EdgeKind = 'after' | 'true' | 'false' | 'each' | 'instead'
export interface Edge {
  from: string
  to: string
  kind: EdgeKind
}

/** Owner of each node that another node runs (map body or error handler). */
export function nodeOwners(definition: Definition): Map<string, string> {
  const owners = new Map<string, string>()
  for (const node of definition.nodes) for (const id of ownedNodes(node)) if (!owners.has(id)) owners.set(id, node.id)
  return owners
}

function ownedNodes({ onError, ...node }: WorkflowNode): string[] {
  const instead = typeof onError === 'object' && 'node' in onError ? [onError.node] : []
  return node.type === 'map' && node.node !== '' ? [node.node, ...instead] : instead
}

export function edgesOf(definition: Definition): Edge[] {
  const ids = new Set(definition.nodes.map(({ id }) => id))
  const owners = nodeOwners(definition)
  const edges = definition.nodes.flatMap((node): Edge[] => {
    const waits = [...(node.after ?? []), ...textsOf(node).flatMap(namedIn)]
    const chosen = node.type === 'branch' ? branchEdges(node.id, node) : []
    return [...waits.map((from) => ({ from, to: node.id, kind: 'after' as const })), ...chosen, ...ownedEdges(node)]
  })
  const valid = edges.filter(({ from, to }) => from !== to && ids.has(from) && ids.has(to))
  const plain = valid.filter(({ kind, from, to }) => kind !== 'after' || !isInside(owners, from, to))
  // Deduplicates edges; specific kinds win over `after`.
  const byPair = new Map<string, Edge>()
  for (const edge of plain) {
    const pair = `${edge.from} ${edge.to}`
    if (!byPair.has(pair) || edge.kind !== 'after') byPair.set(pair, edge)
  }
  return [...byPair.values()]
}

const branchEdges = (
  from: string,
  { onTrue = [], onFalse = [] }: { onTrue?: string[]; onFalse?: string[] },
): Edge[] => [
  ...onTrue.map((to) => ({ from, to, kind: 'true' as const })),
  ...onFalse.map((to) => ({ from, to, kind: 'false' as const })),
]

function ownedEdges(node: WorkflowNode): Edge[] {
  const { onError } = node
  const each: Edge[] = node.type === 'map' && node.node !== '' ? [{ from: node.id, to: node.node, kind: 'each' }] : []
  if (typeof onError === 'object' && 'node' in onError) each.push({ from: node.id, to: onError.node, kind: 'instead' })
  return each
}

// An owned node does not wait for its owner.
const isInside = (owners: ReadonlyMap<string, string>, from: string, to: string) => owners.get(to) === from

/** All predecessors of a node. */
export function beforeOf(definition: Definition, id: string): Set<string> {
  const edges = edgesOf(definition).filter(({ kind }) => kind !== 'each' && kind !== 'instead')
  const found = new Set<string>()
  const look = (at: string) => {
    for (const { from, to } of edges)
      if (to === at && !found.has(from)) {
        found.add(from)
        look(from)
      }
  }
  look(id)
  return found
}

/** All successors of a node, whose output it cannot read. */
export function behindOf(definition: Definition, id: string): Set<string> {
  const edges = edgesOf(definition)
  const found = new Set<string>()
  const look = (at: string) => {
    for (const { from, to } of edges)
      if (from === at && !found.has(to)) {
        found.add(to)
        look(to)
      }
  }
  look(id)
  return found
}

/** Max number of nodes in one column. */
export function graphRows(definition: Definition): number {
  const edges = edgesOf(definition)
  const columns = new Map<string, number>()
  const columnOf = (id: string, seen: ReadonlySet<string>): number => {
    const cached = columns.get(id)
    if (cached !== undefined || seen.has(id)) return cached ?? 0
    const before = edges.filter(({ to }) => to === id).map(({ from }) => columnOf(from, new Set(seen).add(id)) + 1)
    const column = Math.max(0, ...before)
    columns.set(id, column)
    return column
  }
  const counts = new Map<number, number>()
  for (const { id } of definition.nodes) {
    const column = columnOf(id, new Set())
    counts.set(column, (counts.get(column) ?? 0) + 1)
  }
  return Math.max(0, ...counts.values())
}
