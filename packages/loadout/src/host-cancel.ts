/**
 * Recorded calls that can be given up by who made them, in whichever process they run. One that runs here is aborted, down to its
 * server. The row of one that runs elsewhere is ended: its process hears of that and aborts it. A row that is ended lets a call
 * that waits for a person not go on; what a call gives all the same, because it was over by then, is written over it.
 */
import type { CallOutcome } from './calls/call.ts'
import type { CallRecords } from './calls/call-records.ts'
import type { CallRequest, Calls, RunningCall } from './calls/calls.ts'
import { jsonOf } from './calls/outcome-json.ts'
import { HostError } from './errors.ts'
import type { Storage } from './storage/storage.ts'

export interface CancellableRecords extends CallRecords {
  /** Gives up a call of this user, and waits until it has ended where it runs here. `conflict` where it is over. */
  cancel(userId: string, callId: string): Promise<void>
}

interface CancelParts {
  storage: Storage
  records: CallRecords
  calls: Pick<Calls, 'running'>
}

interface Cancellable {
  userId: string
  end: AbortController
  outcome: Promise<CallOutcome>
}

export function createCancel(parts: CancelParts): { records: CancellableRecords; close(): void } {
  const { storage, records, calls } = parts
  const under = new Map<string, Cancellable>()
  let watching: Promise<() => void> | undefined

  /** Ends what was ended elsewhere. What this process wrote itself is over by then. */
  const look = async (callId: string, { userId, end }: Cancellable) => {
    const row = await storage.transaction({ userId }, (tx) => tx.get('calls', callId))
    if (row?.finishedAt && under.has(callId)) end.abort(cancelled())
  }
  const watch = () => {
    watching ??= storage.watch((change) => {
      const one = change.kind === 'row' && change.collection === 'calls' ? under.get(change.id) : undefined
      if (one && change.kind === 'row') void look(change.id, one).catch(() => {})
    })
    watching.catch(() => {
      watching = undefined
    })
  }
  const hold = (userId: string, { callId, outcome }: RunningCall, end: AbortController) => {
    under.set(callId, { userId, end, outcome })
    void outcome.then(() => under.delete(callId))
  }

  return {
    records: {
      async start(request, options) {
        watch()
        const { end, given } = endable(request)
        const recorded = await records.start(given, options)
        if ('running' in recorded) hold(request.userId, recorded.running, end)
        return recorded
      },
      startWaited: (request) => records.startWaited(request),
      get: (userId, callId) => records.get(userId, callId),
      settled: (userId, callId, options) => records.settled(userId, callId, options),
      async cancel(userId, callId) {
        const here = under.get(callId)
        if (here?.userId === userId) {
          here.end.abort(cancelled())
          await here.outcome
          return
        }
        if (calls.running(userId, callId)) throw waitedFor()
        await endRow(storage, await records.get(userId, callId))
      },
    },
    close: () => void watching?.then((stop) => stop()).catch(() => {}),
  }
}

/** The same request with an end of its own beside the one that it came with. */
function endable(request: CallRequest): { end: AbortController; given: CallRequest } {
  const end = new AbortController()
  const { signal } = request
  return { end, given: { ...request, signal: signal ? AbortSignal.any([signal, end.signal]) : end.signal } }
}

async function endRow(
  storage: Storage,
  { userId, callId, finishedAt }: { userId: string; callId: string; finishedAt: Date | null },
) {
  const outcomeJson = jsonOf({ status: 'failed', error: cancelled() })
  const set = { status: 'failed' as const, outcomeJson, finishedAt: new Date() }
  const ended =
    finishedAt === null &&
    (await storage.transaction({ userId }, (tx) => tx.update('calls', callId, { set, where: { finishedAt: null } })))
  if (!ended) throw new HostError('conflict', { detail: 'The call is over.', action: 'Look at what came of it.' })
}

const cancelled = () => new HostError('cancelled', { detail: 'The call was cancelled.' })
const waitedFor = () =>
  new HostError('conflict', {
    detail: 'This call was made to be waited for.',
    action: 'Answer what it asks, or end the request, the chat or the run that made it.',
  })
