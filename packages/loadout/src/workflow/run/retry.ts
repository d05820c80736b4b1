/** Retries a node as configured, then applies its `onError`. */

import type { Suspended } from '../../runs/engine.ts'
import type { WorkflowNode } from '../../schema/records/workflow.ts'
import { sleep } from '../../util/abort.ts'
import type { PlannedNode } from '../definition/plan.ts'
import { type Attempt, type NodeEnd, type NodeError, type NodeScope, render } from './node-result.ts'

export interface AttemptDeps {
  runOnce(planned: PlannedNode, scope: NodeScope): Promise<Attempt>
  /** Runs the `onError` node instead. */
  runFallback(id: string, scope: NodeScope): Promise<NodeEnd | Suspended>
}

/** Errors that a retry cannot change. */
const FINAL: ReadonlySet<string> = new Set([
  'denied',
  'approval-expired',
  'invalid-input',
  'not-carried',
  'tool-not-found',
  'tool-changed',
  'tool-not-accepted',
  'sign-in-needed',
  'credentials-refused',
  'cancelled',
  'outcome-unknown',
  'expression-failed',
  'syntax-error',
  'function-missing',
  'forbidden',
])

export async function withAttempts(
  deps: AttemptDeps,
  planned: PlannedNode,
  base: Omit<NodeScope, 'attempt'>,
): Promise<NodeEnd | Suspended> {
  const { retry } = planned.node
  for (let attempt = 1; ; attempt++) {
    const scope = { ...base, attempt, path: attempt === 1 ? base.path : `${base.path}@${attempt}` }
    const result = await deps.runOnce(planned, scope)
    if ('suspended' in result) return result
    if ('value' in result) return { status: 'completed', output: result.value }
    const { error, at } = result
    const mayRepeat = result.mayRepeat !== false && !FINAL.has(error.code)
    if (attempt >= (retry?.attempts ?? 1) || !mayRepeat)
      return handleError(deps, planned, { scope: { ...base, attempt }, error, mayRepeat })
    await waitUntil((at ?? Date.now()) + backoffOf(retry, attempt), base.signal)
  }
}

async function handleError(
  deps: AttemptDeps,
  planned: PlannedNode,
  { scope, error, mayRepeat }: { scope: NodeScope; error: NodeError; mayRepeat: boolean },
): Promise<NodeEnd | Suspended> {
  const { onError } = planned.node
  const values = { ...scope.values, error: { code: error.code, message: error.message } }
  if (onError === 'fail' || onError === 'continue') return { status: 'failed', output: null, error, mayRepeat }
  if ('node' in onError) {
    const end = await deps.runFallback(onError.node, { ...scope, values, path: `${scope.path}!` })
    if ('suspended' in end || end.status === 'completed') return end
    return { ...end, error: end.error ?? error, mayRepeat: mayRepeat && end.mayRepeat }
  }
  const rendered = render(planned, 'onError.value', values)
  if ('error' in rendered) return { status: 'failed', output: null, error: rendered.error, mayRepeat }
  return { status: 'completed', output: rendered.value, error }
}

/** Whether a failed node fails its map or run. */
export const isFatal = ({ onError }: WorkflowNode, { status }: NodeEnd) => status === 'failed' && onError !== 'continue'

const MAX_MS = 300_000

function backoffOf(retry: WorkflowNode['retry'], attempt: number): number {
  const { backoffMs = 0, factor = 1 } = retry ?? {}
  return Math.min(MAX_MS, backoffMs * factor ** (attempt - 1))
}

async function waitUntil(time: number, signal: AbortSignal): Promise<void> {
  const ms = time - Date.now()
  if (ms <= 0) return
  await sleep(ms, { signal, keepAlive: true })
  signal.throwIfAborted()
}
