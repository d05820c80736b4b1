/**
 * Derives node states from stored steps by replaying the graph over a read-only log, so any process can report them.
 */
import type { RunLog, StepOutcome } from '../../runs/engine.ts'
import { type PublicError, toPublicError } from '../../runs/run-rows.ts'
import { stepName } from '../../runs/step-log.ts'
import type { RunRow, RunView, StepRow } from '../../schema/records/run.ts'
import { planOf } from '../definition/read-definition.ts'
import type { NodeDeps } from '../run/node-context.ts'
import { GraphRun, type NodeStatus, type Progress } from '../run/run-graph.ts'
import { runNode } from '../run/run-node.ts'
import type { RunSnapshot } from '../run-snapshot.ts'

/** Includes the progress of maps. */
export interface NodeState extends Partial<Progress> {
  node: string
  status: NodeStatus
  error?: PublicError | undefined
}

export async function nodeStates(row: RunRow, steps: readonly StepRow[]): Promise<NodeState[]> {
  const { definition, input } = row.inputJson as unknown as RunSnapshot
  const rows = new Map(steps.map((step) => [stepName(step.key), step]))
  const states = new Map<string, NodeState>()
  const progressByNode = new Map<string, Progress>()
  const { runId, userId, createdAt: startedAt } = row
  const about = { threadId: row.threadId ?? undefined, workflowVersionId: row.workflowVersionId ?? undefined }
  const { signal } = new AbortController()
  const parts = { stored: [], append: async () => {}, discard: async () => {} }
  const run = { runId, userId, ...about, input: row.inputJson, startedAt, signal, log: readOnly(rows), parts }
  const graph = new GraphRun({
    plan: planOf(definition),
    run,
    input,
    report: (node, status, error) =>
      states.set(node, { node, status, ...(error ? { error: toPublicError(error) } : {}) }),
    progress: (node, progress) => progressByNode.set(node, progress),
    runOnce: (planned, scope) => runNode({ ...NO_DEPS, run }, { planned, scope }),
  })
  // The executing process reports a log that does not match.
  await graph.go().catch(() => {})
  return [...states.values()].flatMap((state) => {
    const withProgress = { ...state, ...progressByNode.get(state.node) }
    return withProgress.status === 'paused'
      ? withoutEnd(row, stepsOf(steps, withProgress.node), withProgress)
      : [withProgress]
  })
}

/** Progress of all maps, if there are any. */
export async function progressOf(row: RunRow, steps: readonly StepRow[]): Promise<Pick<RunView, 'progress'>> {
  const { definition } = row.inputJson as unknown as RunSnapshot
  if (!definition?.nodes.some(({ type }) => type === 'map')) return {}
  const states = await nodeStates(row, steps)
  const maps = states.flatMap(({ node, done, total }) =>
    done === undefined || total === undefined ? [] : [[node, { done, total }] as const],
  )
  return { progress: Object.fromEntries(maps) }
}

/** State of a node without a recorded end, derived from the run status. */
function withoutEnd({ status }: RunRow, steps: readonly StepRow[], state: NodeState): NodeState[] {
  const waits = steps.some((step) => step.status === 'paused' || step.status === 'outcome-unknown')
  const statusOf = UNFINISHED[status]
  if (statusOf) return [{ ...state, status: statusOf(waits) }]
  // All ready nodes had started, except in a failed run without recorded steps.
  if (status !== 'cancelled' && (status !== 'failed' || steps.length === 0)) return []
  const error = toPublicError({ code: 'cancelled', message: 'The run was over before it came to its end.' })
  return [{ ...state, status: 'failed', error }]
}

/** Node status by run status; `waits` is true if a user must answer. */
const UNFINISHED: Partial<Record<RunRow['status'], (waits: boolean) => NodeStatus>> = {
  queued: (isWaiting) => (isWaiting ? 'paused' : 'queued'),
  running: (isWaiting) => (isWaiting ? 'paused' : 'running'),
  paused: () => 'paused',
  'outcome-unknown': () => 'paused',
}

/** Steps of a node, its items, its attempts and its nested steps. */
const stepsOf = (steps: readonly StepRow[], node: string): StepRow[] =>
  steps.filter(({ key }) => {
    const path = stepName(key)
    return path === node || (path.startsWith(node) && '@[!/'.includes(path.charAt(node.length)))
  })

function readOnly(rows: ReadonlyMap<string, StepRow>): RunLog {
  const within = (prefix: string): RunLog => ({
    recorded: 0,
    unasked: 0,
    has: (path) => rows.has(`${prefix}${path}`),
    within: (path) => within(`${prefix}${path}/`),
    async step({ path, seq, key }): Promise<StepOutcome> {
      const at = `${prefix}${path ?? seq}`
      const row = rows.get(at)
      if (row?.key !== `${at} ${key}` || (row.status !== 'completed' && row.status !== 'failed'))
        return { suspended: 'paused' }
      const { result } = row.resultJson as { result: Exclude<StepOutcome, { suspended: unknown }> }
      // Time 0, so that replay never waits for a retry delay.
      return { ...result, at: 0 }
    },
  })
  return within('')
}

const never = () => {
  throw new Error('Nothing is done here.')
}

/** Replay calls none of these. */
const NO_DEPS: Omit<NodeDeps, 'run'> = {
  invocation: {
    loadout: { tools: [], entries: [], toolkits: [], droppedToolkits: [], tokens: 0 },
    call: never,
    narrowed: never,
  },
  approvals: { put: never, answerTo: never },
  audit: { show: () => ({}) },
  searcher: { search: never } as never,
  executor: undefined,
  agent: undefined,
  onRunning: () => {},
  onUsage: () => {},
  onLogs: () => {},
  onWarnings: () => {},
}
