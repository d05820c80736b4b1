/** A workflow as it is run: each node with what it waits for, what chooses it, what it holds, and its texts read. */
import type { FieldError } from '../errors.ts'
import type { WorkflowDefinition, WorkflowNode } from '../schema/workflow.ts'
import type { Template } from './template.ts'

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
  heldBy: string | undefined
}

export interface Plan {
  definition: WorkflowDefinition
  nodes: ReadonlyMap<string, PlannedNode>
  output: Template | undefined
  /** Nodes that nothing waits for: what they give is what the workflow gives. */
  last: readonly string[]
}

/** What a node runs: the body of a map, what it falls back to. */
export function heldNodes({ type, ...node }: WorkflowNode): { id: string; field: string }[] {
  const held: { id: string; field: string }[] = []
  if (type === 'map') held.push({ id: (node as { node: string }).node, field: 'node' })
  if (typeof node.onError === 'object' && 'node' in node.onError)
    held.push({ id: node.onError.node, field: 'onError.node' })
  return held
}

/** From each node to those that must be over before it. */
export type Edges = ReadonlyMap<string, ReadonlySet<string>>

export function edgesOf(nodes: Iterable<readonly [string, PlannedNode]>): Edges {
  return new Map(
    [...nodes].map(([id, { needs, chosenBy }]) => [id, new Set([...needs, ...chosenBy.map((one) => one.branch)])]),
  )
}

/** Rings in which everybody waits for everybody, and who waits for one of them. */
export function findCycles(edges: Edges): { cycles: string[][]; behind: string[] } {
  const cycles: string[][] = []
  const state = new Map<string, 'open' | 'done'>()
  const path: string[] = []
  const visit = (id: string): void => {
    state.set(id, 'open')
    path.push(id)
    for (const next of edges.get(id) ?? []) {
      if (!edges.has(next)) continue
      if (!state.has(next)) visit(next)
      else if (state.get(next) === 'open') cycles.push([...path.slice(path.indexOf(next)), next])
    }
    path.pop()
    state.set(id, 'done')
  }
  for (const id of edges.keys()) if (!state.has(id)) visit(id)
  const inRing = new Set(cycles.flat())
  const stuck = new Set(inRing)
  for (let grew = true; grew; ) {
    grew = false
    for (const [id, needs] of edges)
      if (!stuck.has(id) && [...needs].some((one) => stuck.has(one))) {
        stuck.add(id)
        grew = true
      }
  }
  return { cycles, behind: [...stuck].filter((id) => !inRing.has(id)) }
}

/** All that wait for a node, and it itself. */
export function downstreamOf(plan: Plan, from: string): Set<string> {
  const edges = edgesOf(plan.nodes)
  const found = new Set([from])
  for (let grew = true; grew; ) {
    grew = false
    for (const [id, needs] of edges)
      if (!found.has(id) && [...needs].some((one) => found.has(one))) {
        found.add(id)
        grew = true
      }
  }
  return found
}

export const cycleProblem = (cycle: readonly string[], at: string): FieldError => ({
  path: at,
  // Read forwards: each waits for the next.
  message: `is in a cycle: ${cycle.join(' waits for ')}`,
})
