/** A map: its node for each item of a list, so many at once; what came of them is in the order of the list. */
import type { Suspended } from '../../runs/engine.ts'
import type { Json } from '../../schema/json.ts'
import type { NodeOf } from '../../schema/records/workflow.ts'
import type { PlannedNode } from '../definition/plan.ts'
import { isList } from '../expressions/functions.ts'
import { type Attempt, type NodeEnd, type NodeScope, render } from './node-result.ts'
import { isFatal } from './retry.ts'

const MAX_ITEMS = 10_000

export interface ItemDeps {
  /** Runs one item. */
  run(body: PlannedNode, place: Omit<NodeScope, 'attempt'>): Promise<NodeEnd | Suspended>
  /** So many came to their end. */
  came(done: number, total: number): void
}

export async function mapItems(
  { planned, body }: { planned: PlannedNode & { node: NodeOf<'map'> }; body: PlannedNode },
  place: NodeScope,
  parts: ItemDeps,
): Promise<Attempt> {
  const { node } = planned
  const over = render(planned, 'over', place.values)
  if ('error' in over) return over
  const items = over.value
  if (!isList(items)) return wrong(node.id, 'must be a list')
  if (items.length > MAX_ITEMS) return wrong(node.id, `has ${items.length} items, and ${MAX_ITEMS} are the most`)
  const ends: (NodeEnd | Suspended)[] = []
  let next = 0
  let done = 0
  let isOver = false
  parts.came(done, items.length)
  const work = async (): Promise<void> => {
    while (next < items.length && !isOver) {
      const index = next++
      const values = { ...place.values, [node.as]: items[index], index }
      const end = await runTries({ ...place, body }, (name) =>
        parts.run(body, { ...place, values, item: index, place: `${name}[${index}]` }),
      )
      ends[index] = end
      if ('stands' in end) continue
      parts.came(++done, items.length)
      // The others of now come to their end; no further one begins.
      if (isFatal(body.node, end)) isOver = true
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: Math.min(node.concurrency, items.length) }, work))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return outcomeOf(ends, body)
}

/** Where a map is tried again, its items have the places that they had: what came to an end is given out of the log. */
async function runTries(
  { place, attempt, body }: Pick<NodeScope, 'place' | 'attempt'> & { body: PlannedNode },
  run: (place: string) => Promise<NodeEnd | Suspended>,
): Promise<NodeEnd | Suspended> {
  const first = attempt === 1 ? place : place.slice(0, place.lastIndexOf('@'))
  for (let tried = 1; ; tried++) {
    const end = await run(tried === 1 ? first : `${first}@${tried}`)
    if (tried >= attempt || 'stands' in end || !isFatal(body.node, end) || end.mayRepeat === false) return end
  }
}

function outcomeOf(ends: readonly (NodeEnd | Suspended | undefined)[], body: PlannedNode): Attempt {
  const fatal = [...ends.entries()].flatMap(([index, end]) =>
    end && !('stands' in end) && isFatal(body.node, end) ? [{ index, ...end }] : [],
  )
  const [first] = fatal
  if (first) {
    const { code = 'internal', message = '', data } = first.error ?? {}
    const mayRepeat = fatal.every((end) => end.mayRepeat !== false)
    return { error: { code, message: `Item ${first.index}: ${message}`, data }, mayRepeat }
  }
  const stands = ends.find((end): end is Suspended => end !== undefined && 'stands' in end)
  if (stands) return stands
  return { value: ends.map((end): Json => (end as NodeEnd).output) }
}

const wrong = (id: string, why: string): Attempt => ({
  error: { code: 'expression-failed', message: `Node '${id}', over: ${why}` },
})
