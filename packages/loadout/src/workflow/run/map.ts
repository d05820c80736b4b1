/** Map node: runs its body for each item with limited concurrency; results keep the order of the list. */
import type { Suspended } from '../../runs/engine.ts'
import type { Json } from '../../schema/json.ts'
import type { NodeOf } from '../../schema/records/workflow.ts'
import type { PlannedNode } from '../definition/plan.ts'
import { isList } from '../expressions/functions.ts'
import { type Attempt, type NodeEnd, type NodeScope, render } from './node-result.ts'
import { isFatal } from './retry.ts'

const MAX_ITEMS = 10_000

export interface ItemDeps {
  /** Runs the body for one item. */
  run(body: PlannedNode, scope: Omit<NodeScope, 'attempt'>): Promise<NodeEnd | Suspended>
  /** Reports the number of finished items. */
  onProgress(done: number, total: number): void
}

export async function mapItems(
  { planned, body }: { planned: PlannedNode & { node: NodeOf<'map'> }; body: PlannedNode },
  scope: NodeScope,
  deps: ItemDeps,
): Promise<Attempt> {
  const { node } = planned
  const over = render(planned, 'over', scope.values)
  if ('error' in over) return over
  const items = over.value
  if (!isList(items)) return overError(node.id, 'must be a list')
  if (items.length > MAX_ITEMS) return overError(node.id, `has ${items.length} items, and ${MAX_ITEMS} are the most`)
  const ends: (NodeEnd | Suspended)[] = []
  let next = 0
  let done = 0
  let isOver = false
  deps.onProgress(done, items.length)
  const work = async (): Promise<void> => {
    while (next < items.length && !isOver) {
      const index = next++
      const values = { ...scope.values, [node.as]: items[index], index }
      const end = await runTries({ ...scope, body }, (path) =>
        deps.run(body, { ...scope, values, item: index, path: `${path}[${index}]` }),
      )
      ends[index] = end
      if ('suspended' in end) continue
      deps.onProgress(++done, items.length)
      // Running items finish; no further item starts.
      if (isFatal(body.node, end)) isOver = true
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: Math.min(node.concurrency, items.length) }, work))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return outcomeOf(ends, body)
}

/** Items keep their log paths when a map is retried, so finished items are replayed from the log. */
async function runTries(
  { path, attempt, body }: Pick<NodeScope, 'path' | 'attempt'> & { body: PlannedNode },
  run: (path: string) => Promise<NodeEnd | Suspended>,
): Promise<NodeEnd | Suspended> {
  const firstPath = attempt === 1 ? path : path.slice(0, path.lastIndexOf('@'))
  for (let tried = 1; ; tried++) {
    const end = await run(tried === 1 ? firstPath : `${firstPath}@${tried}`)
    if (tried >= attempt || 'suspended' in end || !isFatal(body.node, end) || end.mayRepeat === false) return end
  }
}

function outcomeOf(ends: readonly (NodeEnd | Suspended | undefined)[], body: PlannedNode): Attempt {
  const fatal = [...ends.entries()].flatMap(([index, end]) =>
    end && !('suspended' in end) && isFatal(body.node, end) ? [{ index, ...end }] : [],
  )
  const [first] = fatal
  if (first) {
    const { code = 'internal', message = '', data } = first.error ?? {}
    const mayRepeat = fatal.every((end) => end.mayRepeat !== false)
    return { error: { code, message: `Item ${first.index}: ${message}`, data }, mayRepeat }
  }
  const suspended = ends.find((end): end is Suspended => end !== undefined && 'suspended' in end)
  if (suspended) return suspended
  return { value: ends.map((end): Json => (end as NodeEnd).output) }
}

const overError = (id: string, why: string): Attempt => ({
  error: { code: 'expression-failed', message: `Node '${id}', over: ${why}` },
})
