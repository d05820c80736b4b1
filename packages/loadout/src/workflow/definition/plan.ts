/** A workflow as it is run: each node with what it waits for, what chooses it, what it holds, and its texts read. */
import type { FieldError } from '../../errors.ts'
import type { WorkflowDefinition, WorkflowNode } from '../../schema/records/workflow.ts'
import type { Template } from '../expressions/template.ts'

/** The fields of a node that are evaluated. */
export type TextField = 'arguments' | 'prompt' | 'system' | 'input' | 'when' | 'over' | 'message' | 'onError.value'

export interface PlannedNode {
  node: WorkflowNode
  index: number
  texts: Partial<Record<TextField, Template>>
  /** Nodes that must be over before it: `after`, and what its texts name, with those of what it holds. */
  needs: ReadonlySet<string>
  /** Branches that choose it; one of them must. */
  chosenBy: readonly { branch: string; on: boolean }[]
  /** The node that runs it, where it is not run by itself. */
  parentId: string | undefined
}

export interface Plan {
  definition: WorkflowDefinition
  nodes: ReadonlyMap<string, PlannedNode>
  output: Template | undefined
  /** Nodes that nothing waits for: what they give is what the workflow gives. */
  last: readonly string[]
}

/** What a node runs: the body of a map, what it falls back to. */
export function childNodes({ type, ...node }: WorkflowNode): { id: string; field: string }[] {
  const children: { id: string; field: string }[] = []
  if (type === 'map') children.push({ id: (node as { node: string }).node, field: 'node' })
  if (typeof node.onError === 'object' && 'node' in node.onError)
    children.push({ id: node.onError.node, field: 'onError.node' })
  return children
}

/** From each node to those that must be over before it. */
export type Edges = ReadonlyMap<string, ReadonlySet<string>>

export function edgesOf(nodes: Iterable<readonly [string, PlannedNode]>): Edges {
  return new Map(
    [...nodes].map(([id, { needs, chosenBy }]) => [
      id,
      new Set([...needs, ...chosenBy.map((choice) => choice.branch)]),
    ]),
  )
}

/** Who waits for one of these, directly or by others; with them. */
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

/** All that wait for a node, and it itself. */
export const downstreamOf = (plan: Plan, from: string): Set<string> => waitingFor(edgesOf(plan.nodes), [from])

/** More than these say nothing new. */
const MAX_CYCLES = 20

/** Cycles, at most one for each node of one, and who waits for one of them. */
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

/** Nodes that each wait for all others of theirs (Tarjan), in the order of the graph; who waits for itself is one, too. */
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

/** From a node back to itself. */
function shortestCycle(edges: Edges, from: string): string[] | undefined {
  const cameFrom = new Map<string, string>()
  // What is found is appended, and walked in its turn.
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

/** Read forwards: each waits for the next. */
export function cycleProblem(cycle: readonly string[], at: string): FieldError {
  const more = cycle.length - MAX_LISTED_NODES
  const listed = more > 1 ? [...cycle.slice(0, MAX_LISTED_NODES - 1), `${more} more`, ...cycle.slice(-1)] : cycle
  return { path: at, message: `is in a cycle: ${listed.join(' waits for ')}` }
}
