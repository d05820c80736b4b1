/**
 * Selects the steps that a rerun reuses: those of all nodes that do not depend on the restarted node. A call with an
 * unknown outcome is reused as started, so the new run asks before it repeats the call.
 */
import type { ReusedStep } from '../../runs/engine.ts'
import { stepName } from '../../runs/step-log.ts'
import type { StepRow } from '../../schema/records/run.ts'
import type { WorkflowNode } from '../../schema/records/workflow.ts'
import { downstreamOf, type Plan } from '../definition/plan.ts'
import { OUTCOME_UNKNOWN_CODES } from './recorded-calls.ts'

type Steps = ReadonlyMap<string, StepRow>

export function stepsBefore(plan: Plan, from: string, steps: readonly StepRow[]): ReusedStep[] {
  const rerun = downstreamOf(plan, from)
  const stepsByPath: Steps = new Map(steps.map((step) => [stepName(step.key), step]))
  return steps
    .filter(({ key }) => plan.nodes.has(nodeIn(stepName(key))) && !rerun.has(nodeIn(stepName(key))))
    .flatMap((step) => reusable(plan, stepsByPath, step))
    .map(({ stepId: _, runId: __, userId: ___, ...step }) => step)
}

function reusable(plan: Plan, steps: Steps, step: StepRow): StepRow[] {
  const path = stepName(step.key)
  if (step.status === 'completed') return [step]
  if (step.status === 'failed' && isSettled(plan, steps, path)) return [step]
  const outer = steps.get(path.slice(0, path.lastIndexOf('/')))
  // Steps inside a finished step are not requested again.
  if (outer && reusable(plan, steps, outer).length > 0) return step.status === 'failed' ? [step] : []
  const isOpen = step.status === 'started' || step.status === 'outcome-unknown' || isOutcomeUnknown(step)
  return isOpen ? [{ ...step, status: 'started', resultJson: null, endedAt: null }] : []
}

function isOutcomeUnknown({ kind, status, resultJson }: StepRow): boolean {
  const { result } = (resultJson ?? {}) as { result?: { error?: { code: string } } }
  return kind === 'call' && status === 'failed' && OUTCOME_UNKNOWN_CODES.has(result?.error?.code ?? '')
}

/** A failed step is reused if something followed it: a retry, a fallback, or a later call of its program. */
function isSettled(plan: Plan, steps: Steps, path: string): boolean {
  const [whole = '', ...inner] = path.split('/')
  if (inner.length > 0) return hasFollowers(steps, path)
  return nextAttempts(whole).some((next) => steps.has(next)) || nodesAt(plan, whole).some(continuesOnError)
}

const continuesOnError = ({ onError }: WorkflowNode) => onError !== 'fail'

function hasFollowers(steps: Steps, path: string): boolean {
  const within = path.slice(0, path.lastIndexOf('/') + 1)
  const order = orderOf(steps.get(path))
  return [...steps].some(([other, step]) => other.startsWith(within) && orderOf(step) > order)
}

const orderOf = (step: StepRow | undefined) => (step?.resultJson as { order?: number } | null | undefined)?.order ?? -1

/** `each[3]@2/call:x` belongs to node `each`. */
const nodeIn = (path: string) => /^[A-Za-z0-9_-]+/.exec(path)?.[0] ?? ''

/** The node of a path and the maps that contain it. */
function nodesAt(plan: Plan, path: string): WorkflowNode[] {
  const nodes: WorkflowNode[] = []
  const add = (id: string) => {
    const node = plan.nodes.get(id)?.node
    if (node) nodes.push(node)
  }
  add(nodeIn(path))
  for (const [mark] of path.matchAll(/\[|!/g)) {
    const { onError, ...last } = nodes.at(-1) as WorkflowNode
    if (mark === '[' && 'node' in last) add(last.node)
    if (mark === '!' && typeof onError === 'object' && 'node' in onError) {
      // The fallback replaces the failed node.
      nodes.pop()
      add(onError.node)
    }
  }
  return nodes
}

/** `a[1]` is retried as `a[1]@2`, and with its map as `a@2[1]`. */
function nextAttempts(path: string): string[] {
  return [...path.matchAll(/(?:@(\d+))?(?=\[|!|$)/g)].map(({ 0: whole, 1: attempt = '1', index }) =>
    [path.slice(0, index), `@${Number(attempt) + 1}`, path.slice(index + whole.length)].join(''),
  )
}
