/**
 * Runs the nodes of a workflow, each as soon as its dependencies finish. Guarantees:
 *
 * - No state of its own: with the same log it reaches the same point, in any order of events.
 * - A suspended node does not stop the others; the run suspends when no node can continue.
 * - After a fatal failure no node starts; running nodes finish, so that the log has their results.
 * - A node is skipped if no branch chose it or all of its dependencies were skipped.
 */
import type { ActiveRun, Suspended } from '../../runs/engine.ts'
import type { Json } from '../../schema/json.ts'
import type { NodeOf } from '../../schema/records/workflow.ts'
import type { Plan, PlannedNode } from '../definition/plan.ts'
import { ExpressionFault } from '../expressions/expression-error.ts'
import { mapItems } from './map.ts'
import type { Attempt, NodeEnd, NodeError, NodeScope } from './node-result.ts'
import { nodeFailure } from './node-result.ts'
import { isFatal, withAttempts } from './retry.ts'

export type NodeStatus = 'queued' | 'running' | 'completed' | 'failed' | 'skipped' | 'paused'

/** Progress of a map: finished items, successful or not. */
export interface Progress {
  done: number
  total: number
}

export interface GraphDeps {
  plan: Plan
  run: ActiveRun
  input: Json
  /** Runs one attempt of a node that is not a map. */
  runOnce(planned: PlannedNode, scope: NodeScope): Promise<Attempt>
  report(node: string, status: NodeStatus, error?: NodeError): void
  progress(node: string, progress: Progress): void
}

export type GraphEnd =
  | { status: 'completed'; output: Json }
  | { status: 'failed'; node: string; error: NodeError }
  | { status: 'paused' }

/** Max nodes of one run that execute at once. */
const MAX_CONCURRENT_NODES = 16

export class GraphRun {
  readonly #deps: GraphDeps
  readonly #ends = new Map<string, NodeEnd>()
  readonly #suspended = new Set<string>()
  readonly #started = new Set<string>()
  readonly #working = new Set<Promise<void>>()
  /** Value of `nodes` in expressions. */
  readonly #outputs: Record<string, Json> = {}
  readonly #waiting: Array<() => void> = []
  #busy = 0
  #failed: { node: string; error: NodeError } | undefined
  #fault: unknown

  constructor(deps: GraphDeps) {
    this.#deps = deps
  }

  async go(): Promise<GraphEnd> {
    this.#advance()
    while (this.#working.size > 0) await Promise.race(this.#working)
    if (this.#fault !== undefined) throw this.#fault
    if (this.#failed) return { status: 'failed', ...this.#failed }
    if (this.#suspended.size > 0) return { status: 'paused' }
    return this.#output()
  }

  /** Starts all ready nodes; a skipped node can make others ready. */
  #advance(): void {
    for (let more = true; more && !this.#failed && this.#fault === undefined; ) {
      more = false
      for (const [id, planned] of this.#deps.plan.nodes) {
        if (planned.parentId !== undefined || this.#started.has(id) || !this.#isReady(planned)) continue
        this.#started.add(id)
        if (this.#isChosen(planned)) this.#start(id, planned)
        else {
          this.#finish(id, { status: 'skipped', output: null })
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

  #start(id: string, planned: PlannedNode): void {
    this.#deps.report(id, 'queued')
    const { runId, startedAt, signal } = this.#deps.run
    const values = {
      input: this.#deps.input,
      nodes: this.#outputs,
      run: { id: runId, startedAt: startedAt.toISOString() },
    }
    const work = this.#run(planned, { path: id, values, signal })
      .then((end) => {
        if (!('suspended' in end)) return this.#finish(id, end)
        this.#suspended.add(id)
        this.#deps.report(id, 'paused')
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

  #finish(id: string, end: NodeEnd): void {
    const { status, output, error } = end
    this.#ends.set(id, end)
    this.#outputs[id] = { status, output, error: error ? { code: error.code, message: error.message } : null }
    this.#deps.report(id, status, error)
    const node = this.#deps.plan.nodes.get(id)?.node
    if (node && isFatal(node, end)) this.#failed ??= { node: id, error: error ?? { code: 'internal', message: '' } }
  }

  #run(planned: PlannedNode, scope: Omit<NodeScope, 'attempt'>): Promise<NodeEnd | Suspended> {
    return withAttempts(
      {
        runOnce: (node, scope) => (node.node.type === 'map' ? this.#map(node, scope) : this.#attempt(node, scope)),
        runFallback: (id, scope) => this.#run(this.#child(id), scope),
      },
      planned,
      scope,
    )
  }

  /** A map takes no slot, because its items would wait for that slot. */
  #map(planned: PlannedNode, scope: NodeScope): Promise<Attempt> {
    const node = planned.node as NodeOf<'map'>
    return mapItems({ planned: { ...planned, node }, body: this.#child(node.node) }, scope, {
      run: (body, scope) => this.#run(body, scope),
      // A nested map is part of its parent's items.
      onProgress: (done, total) => planned.parentId === undefined && this.#deps.progress(node.id, { done, total }),
    })
  }

  #child(id: string): PlannedNode {
    return this.#deps.plan.nodes.get(id) as PlannedNode
  }

  async #attempt(planned: PlannedNode, scope: NodeScope): Promise<Attempt> {
    while (this.#busy >= MAX_CONCURRENT_NODES) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy++
    try {
      return await this.#deps.runOnce(planned, scope)
    } finally {
      this.#busy--
      this.#waiting.shift()?.()
    }
  }

  #output(): GraphEnd {
    const { plan, input, run } = this.#deps
    if (plan.output) {
      const values = { input, nodes: this.#outputs, run: { id: run.runId, startedAt: run.startedAt.toISOString() } }
      try {
        return { status: 'completed', output: plan.output.render(values) }
      } catch (error) {
        const { message } = error instanceof ExpressionFault ? error : nodeFailure(error).error
        return {
          status: 'failed',
          node: 'output',
          error: { code: 'expression-failed', message: `The output: ${message}` },
        }
      }
    }
    const lastIds = plan.last.filter((id) => this.#ends.get(id)?.status !== 'skipped')
    const outputOf = (id: string) => this.#ends.get(id)?.output ?? null
    if (lastIds.length === 1) return { status: 'completed', output: outputOf(lastIds[0] as string) }
    return { status: 'completed', output: Object.fromEntries(lastIds.map((id) => [id, outputOf(id)])) }
  }
}
