/** Execution plan of a workflow: each node with its dependencies, its branches, its parent and its parsed templates. */
import type { FieldError } from '../../errors.ts'
import type { WorkflowDefinition, WorkflowNode } from '../../schema/records/workflow.ts'
import type { Template } from '../expressions/template.ts'

/** Node fields that contain templates. */
export type TextField = 'arguments' | 'prompt' | 'system' | 'input' | 'when' | 'over' | 'message' | 'onError.value'

export interface PlannedNode {
  node: WorkflowNode
  index: number
  texts: Partial<Record<TextField, Template>>
  /** Nodes that must finish first: `after` and the nodes in its templates, including those of its children. */
  needs: ReadonlySet<string>
  /** Branches that can choose this node; one of them must. */
  chosenBy: readonly { branch: string; on: boolean }[]
  /** Node that runs this one as a map body or error fallback; undefined for top-level nodes. */
  parentId: string | undefined
}

export interface Plan {
  definition: WorkflowDefinition
  nodes: ReadonlyMap<string, PlannedNode>
  output: Template | undefined
  /** Nodes without dependents; their outputs form the default output. */
  last: readonly string[]
}

/** Children of a node: the map body and the error fallback. */
export function childNodes({ type, ...node }: WorkflowNode): { id: string; field: string }[] {
  const children: { id: string; field: string }[] = []
  if (type === 'map') children.push({ id: (node as { node: string }).node, field: 'node' })
  if (typeof node.onError === 'object' && 'node' in node.onError)
    children.push({ id: node.onError.node, field: 'onError.node' })
  return children
}

/** Maps each node to the nodes that must finish before it. */
export type Edges = ReadonlyMap<string, ReadonlySet<string>>

export function edgesOf(nodes: Iterable<readonly [string, PlannedNode]>): Edges {
  return new Map(
    [...nodes].map(([id, { needs, chosenBy }]) => [
      id,
      new Set([...needs, ...chosenBy.map((choice) => choice.branch)]),
    ]),
  )
}

/** All direct and indirect dependents of `from`, including `from`. */
function waitingFor(edges: Edges, from: Iterable<string>): Set<string> {
  const waiting = new Map<string, string[]>()
  for (const [id, needs] of edges)
    for (const need of needs) {
      const dependents = waiting.get(need)
      if (dependents) dependents.push(id)
      else waiting.set(need, [id])
    }
  const found = new Set(from)
  for (const id of found) for (const next of waiting.get(id) ?? []) found.add(next)
  return found
}

/** All dependents of a node, including itself. */
export const downstreamOf = (plan: Plan, from: string): Set<string> => waitingFor(edgesOf(plan.nodes), [from])

/** Limits the number of reported cycles. */
const MAX_CYCLES = 20

/** Finds cycles, at most one per node, and the nodes that depend on one. */
export function findCycles(edges: Edges): { cycles: string[][]; behind: string[] } {
  const cycles: string[][] = []
  const inCycle = new Set<string>()
  for (const component of strongComponents(edges))
    for (const id of component.keys()) {
      const cycle = inCycle.has(id) || cycles.length >= MAX_CYCLES ? undefined : shortestCycle(component, id)
      if (!cycle) continue
      cycles.push(cycle)
      for (const member of cycle) inCycle.add(member)
    }
  return { cycles, behind: [...waitingFor(edges, inCycle)].filter((id) => !inCycle.has(id)) }
}

/** Strongly connected components (Tarjan) in graph order; a self-loop counts as one. */
function strongComponents(edges: Edges): Edges[] {
  const order = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const components: Set<string>[] = []
  const visit = (id: string): number => {
    const index = order.size
    let lowest = index
    order.set(id, index)
    onStack.add(id)
    stack.push(id)
    for (const next of edges.get(id) ?? []) {
      if (!edges.has(next)) continue
      if (!order.has(next)) lowest = Math.min(lowest, visit(next))
      else if (onStack.has(next)) lowest = Math.min(lowest, order.get(next) as number)
    }
    if (lowest === index) {
      const component = new Set(stack.splice(stack.indexOf(id)))
      for (const member of component) onStack.delete(member)
      if (component.size > 1 || edges.get(id)?.has(id)) components.push(component)
    }
    return lowest
  }
  for (const id of edges.keys()) if (!order.has(id)) visit(id)
  return components.map((component) => new Map([...edges].filter(([id]) => component.has(id))))
}

/** Shortest cycle through a node, by breadth-first search. */
function shortestCycle(edges: Edges, from: string): string[] | undefined {
  const cameFrom = new Map<string, string>()
  // The loop also visits nodes that it appends to `queue`.
  const queue = [from]
  for (const current of queue)
    for (const next of edges.get(current) ?? []) {
      if (next === from) return [...pathTo(current, cameFrom), from]
      if (!edges.has(next) || cameFrom.has(next)) continue
      cameFrom.set(next, current)
      queue.push(next)
    }
  return undefined
}

function pathTo(id: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path: string[] = []
  for (let current: string | undefined = id; current !== undefined; current = cameFrom.get(current))
    path.unshift(current)
  return path
}

const MAX_LISTED_NODES = 10

/** Formats a cycle so that each node waits for the next. */
export function cycleProblem(cycle: readonly string[], at: string): FieldError {
  const more = cycle.length - MAX_LISTED_NODES
  const listed = more > 1 ? [...cycle.slice(0, MAX_LISTED_NODES - 1), `${more} more`, ...cycle.slice(-1)] : cycle
  return { path: at, message: `is in a cycle: ${listed.join(' waits for ')}` }
}
