/**
 * What the list of nodes says of their order: a node that is added below another runs after it, until its form says
 * otherwise. What is taken out of a row leaves no gap: who waited for it waits for what it waited for.
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
import { beforeOf, behindOf, heldIn } from '../graph/graph.ts'

export function addBelow(definition: Definition, node: WorkflowNode, chosen?: string): Definition {
  const above = outermost(definition, chosen ?? definition.nodes.at(-1)?.id)
  const placed = addNode(definition, above ? withAfter(node, [above.id]) : node, chosen)
  // A branch has several ways on: what comes new is one more of them, and is put before none.
  if (!above || above.type === 'branch') return placed
  const next = placed.nodes[placed.nodes.findIndex(({ id }) => id === node.id) + 1]
  return next ? eachAfter(placed, (one) => (one === next ? swapped(one, above.id, [node.id]) : one.after)) : placed
}

export function duplicateBelow(definition: Definition, id: string): { definition: Definition; id: string } {
  const node = definition.nodes.find((one) => one.id === id)
  if (!node || heldIn(definition).has(id)) return duplicateNode(definition, id)
  const copy = { ...structuredClone(node), id: freeId(definition, `${id}_copy`) }
  return { definition: addBelow(definition, copy, id), id: copy.id }
}

export function removeInOrder(definition: Definition, id: string): Definition {
  const gone = definition.nodes.find((one) => one.id === id)
  const held = heldIn(definition)
  const waits = gone?.after ?? []
  const bridged = eachAfter(definition, (node) =>
    held.get(node.id) === id ? waits.filter((one) => one !== node.id) : swapped(node, id, waits),
  )
  return removeNode(bridged, id)
}

/** A change of a node, and what it means for others: what it comes to run leaves the order, and what a branch chooses waits for the branch. */
export function changeInOrder(definition: Definition, id: string, change: Partial<WorkflowNode>): Definition {
  let next = changeNode(definition, id, change)
  const [was, is] = [heldIn(definition), heldIn(next)]
  for (const held of is.keys()) if (is.get(held) === id && was.get(held) !== id) next = takenIn(next, held, id)
  for (const held of was.keys())
    if (was.get(held) === id && !is.has(held))
      next = eachAfter(next, (node) => (node.id === held ? [outermost(next, id)?.id ?? id] : node.after))
  const { onTrue, onFalse } = change as { onTrue?: string[]; onFalse?: string[] }
  for (const chosen of [...(onTrue ?? []), ...(onFalse ?? [])]) next = chosenBy(next, chosen, id)
  return next
}

function takenIn(definition: Definition, held: string, holder: string): Definition {
  const waits = definition.nodes.find(({ id }) => id === held)?.after ?? []
  const instead = outermost(definition, holder)?.id ?? holder
  // Those that the holder waits for cannot wait for it.
  const before = beforeOf(definition, instead).add(instead)
  return eachAfter(definition, (node) => {
    if (node.id === held) return []
    return swapped(node, held, before.has(node.id) ? waits : [instead])
  })
}

function chosenBy(definition: Definition, chosen: string, branch: string): Definition {
  const node = definition.nodes.find(({ id }) => id === branch)
  if (node?.type !== 'branch') return definition
  const waits = definition.nodes.find(({ id }) => id === chosen)?.after ?? []
  const other = (node.onTrue?.includes(chosen) ? node.onFalse : node.onTrue) ?? []
  const beside = new Set(other.flatMap((id) => [id, ...behindOf(definition, id)]))
  return eachAfter(definition, (one) => {
    if (one.id === branch) return swapped(one, chosen, waits)
    return one.id === chosen ? one.after?.filter((id) => !beside.has(id)) : one.after
  })
}

/** The node itself, or the one in the order that runs it. */
function outermost(definition: Definition, id: string | undefined): WorkflowNode | undefined {
  const held = heldIn(definition)
  const seen = new Set<string>()
  let at = id
  for (let by = held.get(at ?? ''); by !== undefined && !seen.has(by); by = held.get(by)) {
    seen.add(by)
    at = by
  }
  return definition.nodes.find((node) => node.id === at)
}

const swapped = ({ id, after }: WorkflowNode, from: string, to: readonly string[]): string[] | undefined =>
  after && [...new Set(after.flatMap((one) => (one === from ? to : [one])))].filter((one) => one !== id)

function eachAfter(definition: Definition, after: (node: WorkflowNode) => string[] | undefined): Definition {
  return { ...definition, nodes: definition.nodes.map((node) => withAfter(node, after(node))) }
}

function withAfter({ after: _, ...node }: WorkflowNode, after: string[] | undefined): WorkflowNode {
  return (after && after.length > 0 ? { ...node, after } : node) as WorkflowNode
}
