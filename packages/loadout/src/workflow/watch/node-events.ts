/**
 * Emits `run-node` events in the process that executes the run. Replayed nodes emit nothing. Child nodes emit no events
 * of their own; a map reports its finished items.
 */
import type { Emitter } from '../../events.ts'
import type { ActiveRun } from '../../runs/engine.ts'
import { toPublicError } from '../../runs/run-rows.ts'
import type { Plan, PlannedNode } from '../definition/plan.ts'
import type { GraphDeps, NodeStatus, Progress } from '../run/run-graph.ts'

/** Max progress events per map. */
const MAX_PARTS = 200

export interface NodeEvents extends Pick<GraphDeps, 'report' | 'progress'> {
  /** Called when a node executes, not when it is replayed from the log. */
  onRunning(planned: PlannedNode): void
}

export function createNodeEvents(events: Emitter, { userId, runId, log }: ActiveRun, { nodes }: Plan): NodeEvents {
  const replayed = new Set<string>()
  const progressByNode = new Map<string, Progress>()
  const last = new Map<string, { status: NodeStatus; done: number }>()
  const report: GraphDeps['report'] = (node, status, error) => {
    if (status === 'queued' && (log.has(node) || log.has(`${node}[0]`))) replayed.add(node)
    if (replayed.has(node)) return
    const progress = progressByNode.get(node)
    last.set(node, { status, done: progress?.done ?? 0 })
    const about = error ? { error: toPublicError(error) } : {}
    events.emit({ type: 'run-node', userId, runId, node, status, ...about, ...progress })
  }
  return {
    report,
    progress: (node, progress) => {
      progressByNode.set(node, progress)
      const before = last.get(node)
      const isDue = before?.status !== 'running' || progress.done - before.done >= partOf(progress)
      if (isDue) report(node, 'running')
    },
    onRunning: (planned) => {
      const { id } = ownerOf(planned, nodes).node
      const isReported = !replayed.delete(id) && last.get(id)?.status === 'running'
      if (!isReported) report(id, 'running')
    },
  }
}

const partOf = ({ total }: Progress) => Math.ceil(total / MAX_PARTS)

/** The top-level node that contains a node, or the node itself. */
function ownerOf(planned: PlannedNode, nodes: Plan['nodes']): PlannedNode {
  const owner = planned.parentId === undefined ? undefined : nodes.get(planned.parentId)
  return owner ? ownerOf(owner, nodes) : planned
}
