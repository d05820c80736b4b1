/** The steps of a run that another takes over, where it begins again at a node: of all nodes that do not wait for that one. */
import type { TakenStep } from '../runs/engine.ts'
import { placeIn } from '../runs/step-log.ts'
import type { StepRow } from '../schema/run.ts'
import { downstreamOf, type Plan } from './plan.ts'

export function stepsBefore(plan: Plan, from: string, steps: readonly StepRow[]): TakenStep[] {
  const again = downstreamOf(plan, from)
  const places = new Set(steps.map(({ key }) => placeIn(key)))
  return steps
    .filter((step) => {
      const place = placeIn(step.key)
      const { onError } = plan.nodes.get(nodeIn(place))?.node ?? {}
      if (again.has(nodeIn(place)) || onError === undefined) return false
      if (step.status === 'completed') return true
      // What failed is taken over where something came after it: another attempt, or what was done instead.
      return step.status === 'failed' && (places.has(nextAttempt(place)) || onError !== 'fail')
    })
    .map(({ stepId: _, runId: __, userId: ___, ...step }) => step)
}

/** `each[3]@2/call:x` is a step of `each`. */
const nodeIn = (place: string) => /^[A-Za-z0-9_-]+/.exec(place)?.[0] ?? ''

function nextAttempt(place: string): string {
  const [whole = '', attempt] = /@(\d+)$/.exec(place) ?? []
  return attempt === undefined ? `${place}@2` : `${place.slice(0, -whole.length)}@${Number(attempt) + 1}`
}
