/**
 * Runs the nodes of a workflow, each as soon as what it needs is over. What holds of it:
 *
 * - It has no memory of its own: run again with the same log it comes to the same point, whatever the order of things was.
 * - A node that stands lets all others go on as far as they can; then the run stands, and holds nothing.
 * - Once a node fails for good, no further one begins; those under way come to their end, so that the log knows of them.
 * - A node is skipped where no branch chose it, or where all that it waited for was skipped.
 */
import type { ActiveRun, Suspended } from '../../runs/engine.ts'
import type { Json } from '../../schema/json.ts'
import type { NodeOf } from '../../schema/records/workflow.ts'
import type { Plan, PlannedNode } from '../definition/plan.ts'
import { ExpressionFault } from '../expressions/expression-error.ts'
import { mapItems } from './map.ts'
import type { Attempt, NodeEnd, NodeError, NodeScope } from './node-result.ts'
import { failure } from './node-result.ts'
import { isFatal, withAttempts } from './retry.ts'

export type NodeStatus = 'queued' | 'running' | 'completed' | 'failed' | 'skipped' | 'paused'

/** How far a map came: items that came to their end, however that was. */
export interface Progress {
  done: number
  total: number
}

export interface GraphDeps {
  plan: Plan
  run: ActiveRun
  input: Json
  /** Does one attempt of a node that is not a map. */
  once(planned: PlannedNode, place: NodeScope): Promise<Attempt>
  tell(node: string, status: NodeStatus, error?: NodeError): void
  progress(node: string, progress: Progress): void
}

export type GraphEnd =
  | { status: 'completed'; output: Json }
  | { status: 'failed'; node: string; error: NodeError }
  | { status: 'paused' }

/** Nodes of one run that are worked on at once. */
const AT_ONCE = 16

export class GraphRun {
  readonly #parts: GraphDeps
  readonly #ends = new Map<string, NodeEnd>()
  readonly #standing = new Set<string>()
  readonly #begun = new Set<string>()
  readonly #working = new Set<Promise<void>>()
  /** What expressions read as `nodes`. */
  readonly #outputs: Record<string, Json> = {}
  readonly #waiting: Array<() => void> = []
  #busy = 0
  #failed: { node: string; error: NodeError } | undefined
  #fault: unknown

  constructor(parts: GraphDeps) {
    this.#parts = parts
  }

  async go(): Promise<GraphEnd> {
    this.#advance()
    while (this.#working.size > 0) await Promise.race(this.#working)
    if (this.#fault !== undefined) throw this.#fault
    if (this.#failed) return { status: 'failed', ...this.#failed }
    if (this.#standing.size > 0) return { status: 'paused' }
    return this.#output()
  }

  /** Begins all that can begin; what is skipped may let others begin. */
  #advance(): void {
    for (let more = true; more && !this.#failed && this.#fault === undefined; ) {
      more = false
      for (const [id, planned] of this.#parts.plan.nodes) {
        if (planned.heldBy !== undefined || this.#begun.has(id) || !this.#isReady(planned)) continue
        this.#begun.add(id)
        if (this.#isChosen(planned)) this.#begin(id, planned)
        else {
          this.#ended(id, { status: 'skipped', output: null })
          more = true
        }
      }
    }
  }

  #isReady({ needs, chosenBy }: PlannedNode): boolean {
    return [...needs].every((id) => this.#ends.has(id)) && chosenBy.every(({ branch }) => this.#ends.has(branch))
  }

  #isChosen({ needs, chosenBy }: PlannedNode): boolean {
    const isAlive = (id: string) => this.#ends.get(id)?.status !== 'skipped'
    const byBranch = ({ branch, on }: { branch: string; on: boolean }) =>
      this.#ends.get(branch)?.status === 'completed' && this.#ends.get(branch)?.output === on
    if (chosenBy.length > 0 && !chosenBy.some(byBranch)) return false
    return needs.size === 0 || [...needs].some(isAlive)
  }

  #begin(id: string, planned: PlannedNode): void {
    this.#parts.tell(id, 'queued')
    const { runId, startedAt, signal } = this.#parts.run
    const values = {
      input: this.#parts.input,
      nodes: this.#outputs,
      run: { id: runId, startedAt: startedAt.toISOString() },
    }
    const work = this.#run(planned, { place: id, values, signal })
      .then((end) => {
        if (!('stands' in end)) return this.#ended(id, end)
        this.#standing.add(id)
        this.#parts.tell(id, 'paused')
      })
      .catch((error: unknown) => {
        this.#fault ??= error
      })
      .finally(() => {
        this.#working.delete(work)
        this.#advance()
      })
    this.#working.add(work)
  }

  #ended(id: string, end: NodeEnd): void {
    const { status, output, error } = end
    this.#ends.set(id, end)
    this.#outputs[id] = { status, output, error: error ? { code: error.code, message: error.message } : null }
    this.#parts.tell(id, status, error)
    const node = this.#parts.plan.nodes.get(id)?.node
    if (node && isFatal(node, end)) this.#failed ??= { node: id, error: error ?? { code: 'internal', message: '' } }
  }

  #run(planned: PlannedNode, place: Omit<NodeScope, 'attempt'>): Promise<NodeEnd | Suspended> {
    return withAttempts(
      {
        once: (node, at) => (node.node.type === 'map' ? this.#map(node, at) : this.#leaf(node, at)),
        instead: (id, at) => this.#run(this.#held(id), at),
      },
      planned,
      place,
    )
  }

  /** A map holds no place of its own: those of its items would wait for it. */
  #map(planned: PlannedNode, place: NodeScope): Promise<Attempt> {
    const node = planned.node as NodeOf<'map'>
    return mapItems({ planned: { ...planned, node }, body: this.#held(node.node) }, place, {
      run: (body, at) => this.#run(body, at),
      // Within another it is part of that one's items.
      came: (done, total) => planned.heldBy === undefined && this.#parts.progress(node.id, { done, total }),
    })
  }

  #held(id: string): PlannedNode {
    return this.#parts.plan.nodes.get(id) as PlannedNode
  }

  async #leaf(planned: PlannedNode, place: NodeScope): Promise<Attempt> {
    while (this.#busy >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy++
    try {
      return await this.#parts.once(planned, place)
    } finally {
      this.#busy--
      this.#waiting.shift()?.()
    }
  }

  #output(): GraphEnd {
    const { plan, input, run } = this.#parts
    if (plan.output) {
      const values = { input, nodes: this.#outputs, run: { id: run.runId, startedAt: run.startedAt.toISOString() } }
      try {
        return { status: 'completed', output: plan.output.render(values) }
      } catch (error) {
        const { message } = error instanceof ExpressionFault ? error : failure(error).error
        return {
          status: 'failed',
          node: 'output',
          error: { code: 'expression-failed', message: `The output: ${message}` },
        }
      }
    }
    const given = plan.last.filter((id) => this.#ends.get(id)?.status !== 'skipped')
    const outputOf = (id: string) => this.#ends.get(id)?.output ?? null
    if (given.length === 1) return { status: 'completed', output: outputOf(given[0] as string) }
    return { status: 'completed', output: Object.fromEntries(given.map((id) => [id, outputOf(id)])) }
  }
}
