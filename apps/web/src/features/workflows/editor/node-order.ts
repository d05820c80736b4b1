/**
 * Keeps `after` in step with the node list: an added node runs after the one above it, and removing a node connects
 * its successors to its predecessors.
 */
import {
  addNode,
  changeNode,
  type Definition,
  duplicateNode,
  freeId,
  removeNode,
  type WorkflowNode,
} from '../definition/definition.ts'
import { beforeOf, behindOf, nodeOwners } from '../graph/graph.ts'

export function addBelow(definition: Definition, node: WorkflowNode, chosen?: string): Definition {
  const above = outermost(definition, chosen ?? definition.nodes.at(-1)?.id)
  const placed = addNode(definition, above ? withAfter(node, [above.id]) : node, chosen)
  // A branch can have several successors, so existing ones stay.
  if (!above || above.type === 'branch') return placed
  const next = placed.nodes[placed.nodes.findIndex(({ id }) => id === node.id) + 1]
  return next ? eachAfter(placed, (item) => (item === next ? swapped(item, above.id, [node.id]) : item.after)) : placed
}

export function duplicateBelow(definition: Definition, id: string): { definition: Definition; id: string } {
  const node = definition.nodes.find((item) => item.id === id)
  if (!node || nodeOwners(definition).has(id)) return duplicateNode(definition, id)
  const copy = { ...structuredClone(node), id: freeId(definition, `${id}_copy`) }
  return { definition: addBelow(definition, copy, id), id: copy.id }
}

export function removeInOrder(definition: Definition, id: string): Definition {
  const gone = definition.nodes.find((item) => item.id === id)
  const owners = nodeOwners(definition)
  const waits = gone?.after ?? []
  const bridged = eachAfter(definition, (node) =>
    owners.get(node.id) === id ? waits.filter((waitId) => waitId !== node.id) : swapped(node, id, waits),
  )
  return removeNode(bridged, id)
}

/**
 * Changes a node and its order: a node that it comes to own leaves the order, and a branch target waits for the
 * branch.
 */
export function changeInOrder(definition: Definition, id: string, change: Partial<WorkflowNode>): Definition {
  let next = changeNode(definition, id, change)
  const previousOwners = nodeOwners(definition)
  const nextOwners = nodeOwners(next)
  for (const ownedId of nextOwners.keys())
    if (nextOwners.get(ownedId) === id && previousOwners.get(ownedId) !== id) next = takenIn(next, ownedId, id)
  for (const ownedId of previousOwners.keys())
    if (previousOwners.get(ownedId) === id && !nextOwners.has(ownedId))
      next = eachAfter(next, (node) => (node.id === ownedId ? [outermost(next, id)?.id ?? id] : node.after))
  const { onTrue, onFalse } = change as { onTrue?: string[]; onFalse?: string[] }
  for (const chosen of [...(onTrue ?? []), ...(onFalse ?? [])]) next = chosenBy(next, chosen, id)
  return next
}

function takenIn(definition: Definition, ownedId: string, ownerId: string): Definition {
  const waits = definition.nodes.find(({ id }) => id === ownedId)?.after ?? []
  const instead = outermost(definition, ownerId)?.id ?? ownerId
  // Predecessors of the owner cannot wait for it.
  const before = beforeOf(definition, instead).add(instead)
  return eachAfter(definition, (node) => {
    if (node.id === ownedId) return []
    return swapped(node, ownedId, before.has(node.id) ? waits : [instead])
  })
}

function chosenBy(definition: Definition, chosen: string, branch: string): Definition {
  const node = definition.nodes.find(({ id }) => id === branch)
  if (node?.type !== 'branch') return definition
  const waits = definition.nodes.find(({ id }) => id === chosen)?.after ?? []
  const other = (node.onTrue?.includes(chosen) ? node.onFalse : node.onTrue) ?? []
  const beside = new Set(other.flatMap((id) => [id, ...behindOf(definition, id)]))
  return eachAfter(definition, (item) => {
    if (item.id === branch) return swapped(item, chosen, waits)
    return item.id === chosen ? item.after?.filter((id) => !beside.has(id)) : item.after
  })
}

/** The node itself, or its outermost owner. */
function outermost(definition: Definition, id: string | undefined): WorkflowNode | undefined {
  const owners = nodeOwners(definition)
  const seen = new Set<string>()
  let at = id
  for (let by = owners.get(at ?? ''); by !== undefined && !seen.has(by); by = owners.get(by)) {
    seen.add(by)
    at = by
  }
  return definition.nodes.find((node) => node.id === at)
}

const swapped = ({ id, after }: WorkflowNode, from: string, to: readonly string[]): string[] | undefined =>
  after && [...new Set(after.flatMap((waitId) => (waitId === from ? to : [waitId])))].filter((waitId) => waitId !== id)

function eachAfter(definition: Definition, after: (node: WorkflowNode) => string[] | undefined): Definition {
  return { ...definition, nodes: definition.nodes.map((node) => withAfter(node, after(node))) }
}

function withAfter({ after: _, ...node }: WorkflowNode, after: string[] | undefined): WorkflowNode {
  return (after && after.length > 0 ? { ...node, after } : node) as WorkflowNode
}
