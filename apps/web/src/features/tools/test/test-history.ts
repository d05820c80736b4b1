/** Reducer of test runs. */
import type { Problem } from '../../../lib/api.ts'
import type { Approval } from '../../approvals/queries.ts'
import type { CallContent } from '../../results/content-view.tsx'
import type { CallEvent } from '../sse-parser.ts'

export interface Progress {
  progress: number
  total?: number
  message?: string
}

export interface CallProblem {
  code: string
  detail: string
  action: string
  errors?: Problem['errors']
}

export interface Try {
  id: string
  ref: string
  arguments: unknown
  startedAt: number
  endedAt?: number
  callId?: string
  /** Cancels the running call. */
  stop?: () => void
  status: 'running' | 'asks' | 'ok' | 'tool-error' | 'failed' | 'cancelled'
  progress?: Progress
  approval?: Approval
  result?: CallContent
  problem?: CallProblem
}

export type TryAction =
  | { type: 'begun'; test: Try }
  | { type: 'event'; id: string; event: CallEvent; at: number }
  | { type: 'failed'; id: string; problem: CallProblem; at: number }
  | { type: 'cancelled'; id: string; at: number }
  | { type: 'answered'; id: string; approval: Approval }
  | { type: 'forget'; ref: string }

const MAX_ENTRIES = 50

export function reduceTestHistory(tries: readonly Try[], action: TryAction): readonly Try[] {
  if (action.type === 'begun') return [action.test, ...tries].slice(0, MAX_ENTRIES)
  if (action.type === 'forget') return tries.filter((test) => test.ref !== action.ref || isRunning(test))
  return tries.map((test) => (test.id === action.id && isRunning(test) ? next(test, action) : test))
}

export const isRunning = ({ status }: Try): boolean => status === 'running' || status === 'asks'

type Change = Exclude<TryAction, { type: 'begun' | 'forget' }>

function next(test: Try, action: Change): Try {
  switch (action.type) {
    case 'event':
      return afterEvent(test, action.event, action.at)
    case 'failed':
      return { ...test, status: 'failed', problem: action.problem, endedAt: action.at }
    case 'cancelled':
      return { ...test, status: 'cancelled', endedAt: action.at }
    case 'answered':
      return { ...test, status: 'running', approval: action.approval }
  }
}

function afterEvent(test: Try, { event, data }: CallEvent, at: number): Try {
  const payload = JSON.parse(data) as Record<string, unknown>
  switch (event) {
    case 'started':
      return { ...test, callId: String(payload.callId) }
    case 'progress':
      return { ...test, progress: payload as unknown as Progress }
    case 'pending':
      return { ...test, status: 'asks', approval: payload.approval as Approval }
    case 'result': {
      const {
        status,
        callId: _,
        ...result
      } = payload as unknown as { status: 'ok' | 'tool-error'; callId: string } & CallContent
      return { ...test, status, result, endedAt: at }
    }
    case 'failed':
      return { ...test, status: 'failed', problem: payload as unknown as CallProblem, endedAt: at }
    default:
      return test
  }
}

/** Problems by path inside the arguments. */
export function argumentProblems(problem: CallProblem | undefined): { path: string; message: string }[] {
  return (problem?.errors ?? []).flatMap(({ path, message }) => {
    if (path === 'arguments') return [{ path: '(root)', message }]
    return path.startsWith('arguments.') ? [{ path: path.slice('arguments.'.length), message }] : []
  })
}

export function elapsed(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = ms / 1000
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
}
