/**
 * How far each node of a run came, worked out from what is stored of it alone: the law of a run over its log, which does nothing
 * where the log ends. So a process that does not work on the run knows what the one that does has told.
 */
import type { RunLog, StepAnswer } from '../runs/engine.ts'
import { placeIn } from '../runs/step-log.ts'
import type { RunRow, StepRow } from '../schema/run.ts'
import { GraphRun, type NodeStatus } from './graph-run.ts'
import type { KeptRun } from './kept-run.ts'
import type { LeafParts } from './leaf.ts'
import type { NodeError } from './node-end.ts'
import { once } from './once.ts'
import { planOf } from './read-definition.ts'

export interface NodeState {
  node: string
  status: NodeStatus
  error?: { code: string; message: string } | undefined
}

export async function nodeStates(row: RunRow, steps: readonly StepRow[]): Promise<NodeState[]> {
  const { definition, input } = row.inputJson as unknown as KeptRun
  const rows = new Map(steps.map((step) => [placeIn(step.key), step]))
  const states = new Map<string, NodeState>()
  const { runId, userId, createdAt: startedAt } = row
  const about = { threadId: row.threadId ?? undefined, workflowVersionId: row.workflowVersionId ?? undefined }
  const { signal } = new AbortController()
  const run = { runId, userId, ...about, input: row.inputJson, startedAt, signal, log: readOnly(rows) }
  const graph = new GraphRun({
    ...{ plan: planOf(definition), run, input },
    tell: (node, status, error) => states.set(node, { node, status, ...shown(error) }),
    once: (planned, place) => once({ ...NOTHING, run }, { planned, place }),
  })
  // What the log does not fit has been told by who works on it.
  await graph.go().catch(() => {})
  const standing = STANDING[row.status]
  return [...states.values()].flatMap((state) => {
    if (state.status !== 'paused') return [state]
    return standing === undefined ? [] : [{ ...state, status: standing(waits(steps, state.node)) }]
  })
}

const shown = (error: NodeError | undefined) => (error ? { error: { code: error.code, message: error.message } } : {})

/** What a node is that the log has no end of, by how the run is; `waits`: somebody must answer for it. */
const STANDING: Partial<Record<RunRow['status'], (waits: boolean) => NodeStatus>> = {
  queued: (isWaiting) => (isWaiting ? 'paused' : 'queued'),
  running: (isWaiting) => (isWaiting ? 'paused' : 'running'),
  paused: () => 'paused',
  'outcome-unknown': () => 'paused',
}

/** It, an item or an attempt of it, or what is done within it. */
function waits(steps: readonly StepRow[], node: string): boolean {
  const own = steps.filter(({ key }) => {
    const place = placeIn(key)
    return place === node || (place.startsWith(node) && '@[!/'.includes(place.charAt(node.length)))
  })
  return own.some(({ status }) => status === 'paused' || status === 'outcome-unknown')
}

function readOnly(rows: ReadonlyMap<string, StepRow>): RunLog {
  const within = (prefix: string): RunLog => ({
    ...{ recorded: 0, unasked: 0 },
    has: (place) => rows.has(`${prefix}${place}`),
    within: (place) => within(`${prefix}${place}/`),
    async step({ place, seq, key }): Promise<StepAnswer> {
      const at = `${prefix}${place ?? seq}`
      const row = rows.get(at)
      if (row?.key !== `${at} ${key}` || (row.status !== 'completed' && row.status !== 'failed'))
        return { stands: 'paused' }
      const { result } = row.resultJson as { result: Exclude<StepAnswer, { stands: unknown }> }
      // Long ago: nothing is waited for before it would be tried again.
      return { ...result, at: 0 }
    },
  })
  return within('')
}

const never = () => {
  throw new Error('Nothing is done here.')
}

/** Nodes are only read: none of this is asked for anything. */
const NOTHING: Omit<LeafParts, 'run'> = {
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
  ...{ onRunning: () => {}, onUsage: () => {}, onLogs: () => {}, onWarnings: () => {} },
}
