/**
 * The steps of a run that another takes over, where it begins again at a node: of all nodes that do not wait for that one. A call
 * whose outcome nobody knows is taken over as one that was begun: the new run asks before it is made again.
 */
import type { TakenStep } from '../../runs/engine.ts'
import { stepName } from '../../runs/step-log.ts'
import type { StepRow } from '../../schema/records/run.ts'
import type { WorkflowNode } from '../../schema/records/workflow.ts'
import { downstreamOf, type Plan } from '../definition/plan.ts'
import { OUTCOME_UNKNOWN_CODES } from './recorded-calls.ts'

type Steps = ReadonlyMap<string, StepRow>

export function stepsBefore(plan: Plan, from: string, steps: readonly StepRow[]): TakenStep[] {
  const again = downstreamOf(plan, from)
  const places: Steps = new Map(steps.map((step) => [stepName(step.key), step]))
  return steps
    .filter(({ key }) => plan.nodes.has(nodeIn(stepName(key))) && !again.has(nodeIn(stepName(key))))
    .flatMap((step) => taken(plan, places, step))
    .map(({ stepId: _, runId: __, userId: ___, ...step }) => step)
}

function taken(plan: Plan, steps: Steps, step: StepRow): StepRow[] {
  const place = stepName(step.key)
  if (step.status === 'completed') return [step]
  if (step.status === 'failed' && isSettled(plan, steps, place)) return [step]
  const outer = steps.get(place.slice(0, place.lastIndexOf('/')))
  // What is within something that ended for good is not asked for again.
  if (outer && taken(plan, steps, outer).length > 0) return step.status === 'failed' ? [step] : []
  const isOpen = step.status === 'started' || step.status === 'outcome-unknown' || isUnsure(step)
  return isOpen ? [{ ...step, status: 'started', resultJson: null, endedAt: null }] : []
}

function isUnsure({ kind, status, resultJson }: StepRow): boolean {
  const { result } = (resultJson ?? {}) as { result?: { error?: { code: string } } }
  return kind === 'call' && status === 'failed' && OUTCOME_UNKNOWN_CODES.has(result?.error?.code ?? '')
}

/** What failed is taken over where something came after it: another attempt, what was done instead, or what its program did next. */
function isSettled(plan: Plan, steps: Steps, place: string): boolean {
  const [whole = '', ...inner] = place.split('/')
  if (inner.length > 0) return hasFollowers(steps, place)
  return nextAttempts(whole).some((next) => steps.has(next)) || nodesAt(plan, whole).some(goesOn)
}

const goesOn = ({ onError }: WorkflowNode) => onError !== 'fail'

function hasFollowers(steps: Steps, place: string): boolean {
  const within = place.slice(0, place.lastIndexOf('/') + 1)
  const order = orderOf(steps.get(place))
  return [...steps].some(([other, step]) => other.startsWith(within) && orderOf(step) > order)
}

const orderOf = (step: StepRow | undefined) => (step?.resultJson as { order?: number } | null | undefined)?.order ?? -1

/** `each[3]@2/call:x` is a step of `each`. */
const nodeIn = (place: string) => /^[A-Za-z0-9_-]+/.exec(place)?.[0] ?? ''

/** Whose it is, and the maps that it is an item of. */
function nodesAt(plan: Plan, place: string): WorkflowNode[] {
  const nodes: WorkflowNode[] = []
  const add = (id: string) => {
    const node = plan.nodes.get(id)?.node
    if (node) nodes.push(node)
  }
  add(nodeIn(place))
  for (const [mark] of place.matchAll(/\[|!/g)) {
    const { onError, ...last } = nodes.at(-1) as WorkflowNode
    if (mark === '[' && 'node' in last) add(last.node)
    if (mark === '!' && typeof onError === 'object' && 'node' in onError) {
      // In place of the one that failed.
      nodes.pop()
      add(onError.node)
    }
  }
  return nodes
}

/** `a[1]` is tried again as `a[1]@2`, and with its map as `a@2[1]`. */
function nextAttempts(place: string): string[] {
  return [...place.matchAll(/(?:@(\d+))?(?=\[|!|$)/g)].map(({ 0: whole, 1: attempt = '1', index }) =>
    [place.slice(0, index), `@${Number(attempt) + 1}`, place.slice(index + whole.length)].join(''),
  )
}
