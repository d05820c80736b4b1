/** State of each node of a run, derived from its steps. Owned nodes are included. */
import type { Definition } from '../definition/definition.ts'
import { nodeOwners } from '../graph/graph.ts'
import type { Run, Step } from '../queries.ts'
import type { NodeState } from './run-state.tsx'

export interface RunNode {
  id: string
  state: NodeState
  /** Steps without internal ones. */
  steps: readonly Step[]
  startedAt: string | undefined
  endedAt: string | undefined
  /** Finished items of a map. */
  progress: NodeProgress | undefined
}

export interface NodeProgress {
  done: number
  total: number
}

const ACTIVE = new Set(['queued', 'running', 'paused', 'outcome-unknown'])

export function runNodes(run: Run, definition: Definition): RunNode[] {
  const owners = nodeOwners(definition)
  const left = notChosen(run, definition)
  return definition.nodes.map(({ id, type }) => {
    const isMap = type === 'map'
    const steps = run.steps.filter((step) => (owners.has(id) ? nodeOf(step) : ownerOf(step)) === id)
    const progress = isMap ? run.progress?.[id] : undefined
    // A map body is finished when its map is.
    const counted = run.progress?.[isMap ? id : (owners.get(id) ?? '')]
    return {
      id,
      progress,
      state: left.has(id) ? 'skipped' : stateOf({ id, isMap, steps, run, isOwned: owners.has(id), counted }),
      steps: steps.filter(isTelling),
      startedAt: earliest(steps.map(({ startedAt }) => startedAt)),
      endedAt: steps.some((step) => step.endedAt === undefined)
        ? undefined
        : latest(steps.map((step) => step.endedAt ?? '')),
    }
  })
}

/** Whether a step is relevant to users; internal steps record names, time and randomness. */
export const isTelling = ({ kind }: Step): boolean => kind !== 'names' && kind !== 'random' && kind !== 'now'

/** Node of a step; for a map item, the map body. */
export function nodeOf(step: Step): string {
  const { node } = (step.request ?? {}) as { node?: unknown }
  return typeof node === 'string' ? node : ownerOf(step)
}

/** Node of a step's `place`: `each[3]@2/0` belongs to `each`. */
const ownerOf = ({ place = '' }: Step): string => /^[A-Za-z0-9_-]+/.exec(place)?.[0] ?? ''

interface NodeContext {
  id: string
  isMap: boolean
  isOwned: boolean
  steps: readonly Step[]
  run: Run
  counted: NodeProgress | undefined
}

function stateOf({ id, isMap, isOwned, steps, run, counted }: NodeContext): NodeState {
  const isActive = ACTIVE.has(run.status)
  if (run.error?.node === id) return 'failed'
  const isCounted = counted !== undefined && counted.done >= counted.total
  if (steps.length === 0) return isCounted ? 'completed' : withoutSteps(run, isActive)
  const has = (status: Step['status']) => steps.some((step) => step.status === status)
  if (has('outcome-unknown')) return 'outcome-unknown'
  if (has('paused') && isActive) return 'paused'
  if (has('started')) return isActive ? 'running' : 'failed'
  const isMoving = run.status === 'queued' || run.status === 'running'
  if (isMap || isOwned) return isMoving && !isCounted ? 'running' : has('completed') ? 'completed' : 'failed'
  const own = steps.filter((step) => !step.place?.includes('/'))
  const last = own.at(-1)
  if (!last) return isActive ? 'running' : 'failed'
  if (last.status === 'completed') return 'completed'
  return last.status === 'failed' ? 'failed' : 'running'
}

/** Branch targets that no branch selected. */
function notChosen(run: Run, { nodes }: Definition): Set<string> {
  const branches = nodes.filter((node) => node.type === 'branch')
  const wentOf = (id: string) => run.steps.find((step) => step.place === id && step.status === 'completed')?.output
  const targets = new Set(branches.flatMap(({ onTrue = [], onFalse = [] }) => [...onTrue, ...onFalse]))
  const isLeft = (target: string) =>
    branches
      .filter(({ onTrue = [], onFalse = [] }) => [...onTrue, ...onFalse].includes(target))
      .every(({ id, onTrue = [], onFalse = [] }) => {
        const went = wentOf(id)
        return went !== undefined && !(went === true ? onTrue : onFalse).includes(target)
      })
  return new Set([...targets].filter(isLeft))
}

const withoutSteps = ({ status }: Run, isActive: boolean): NodeState =>
  isActive ? 'waiting' : status === 'completed' ? 'skipped' : 'waiting'

/** Sorted by start; nodes that have not started come last. */
export function inTime(nodes: readonly RunNode[]): RunNode[] {
  const started = nodes.filter(({ startedAt }) => startedAt !== undefined)
  const rest = nodes.filter(({ startedAt }) => startedAt === undefined)
  return [...started.sort((a, b) => (a.startedAt ?? '').localeCompare(b.startedAt ?? '')), ...rest]
}

/** Step label: item, attempt and call. */
export function formatStep(step: Step): string {
  const { place = '' } = step
  const { ref, said, attempt } = (step.request ?? {}) as { ref?: unknown; said?: unknown; attempt?: unknown }
  const item = /\[(\d+)\]/.exec(place)?.[1]
  const parts = [
    item === undefined ? undefined : `Item ${Number(item) + 1}`,
    typeof attempt === 'number' && attempt > 1 ? `attempt ${attempt}` : undefined,
    typeof ref === 'string' ? ref : typeof said === 'string' ? said : KINDS[step.kind],
  ]
  return parts.filter(Boolean).join(', ')
}

const KINDS: Readonly<Record<string, string>> = {
  call: 'Call',
  code: 'Program',
  branch: 'Decision',
  approval: 'Question',
  agent: 'Agent',
}

const earliest = (times: readonly string[]) => [...times].sort()[0]
const latest = (times: readonly string[]) => [...times].sort().at(-1)
