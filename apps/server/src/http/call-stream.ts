/**
 * Streams a call as server-sent events: progress, server logs, input and approval requests, and the outcome. Closing
 * the stream cancels the call, unless it runs in the background or has an idempotency key.
 */

import type { CallOutcome } from '@loadout/core'
import type { CallRequest, HostServices, RunningCall } from '@loadout/core/services'
import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { resultOf, viewInput } from './call-responses.ts'
import type { Env } from './env.ts'

const KEEP_ALIVE_MS = 25_000

export interface Streamed {
  request: CallRequest
  idempotencyKey: string | undefined
  wait: boolean
}

/** A call that is refused before it starts gives a problem document. */
export async function streamCall(c: Context<Env>, host: HostServices, streamed: Streamed): Promise<Response> {
  const { request, idempotencyKey, wait } = streamed
  const gone = new AbortController()
  const early: Array<[event: string, data: object]> = []
  let tell = (event: string, data: object) => void early.push([event, data])
  const observedRequest = {
    ...request,
    onProgress: (progress: object) => tell('progress', progress),
    onLog: (entry: object) => tell('log', entry),
  }
  const isRecorded = idempotencyKey !== undefined || !wait
  const started = isRecorded
    ? await host.records.start(observedRequest, { idempotencyKey })
    : { ...host.records.startWaited({ ...observedRequest, signal: gone.signal }), callId: undefined }
  const running = 'running' in started ? started.running : host.calls.running(request.userId, started.callId)
  const callId = running?.callId ?? started.callId ?? ''
  return streamSSE(c, async (stream) => {
    const send = sender(stream)
    stream.onAbort(() => gone.abort())
    const beat = setInterval(() => void send('still-here', {}), KEEP_ALIVE_MS)
    await send('started', { callId })
    for (const [event, data] of early) await send(event, data)
    tell = (event, data) => void send(event, data)
    try {
      const outcome = running
        ? await follow(running, send)
        : await followRecorded(host, { request, callId, gone }, send)
      if (outcome) await send(...ended(callId, outcome))
    } finally {
      clearInterval(beat)
    }
  })
}

type Send = (event: string, data: object) => Promise<void>

const sender =
  (stream: SSEStreamingApi): Send =>
  (event, data) =>
    stream.writeSSE({ event, data: JSON.stringify(data) }).catch(() => {})

function follow(running: RunningCall, send: Send): Promise<CallOutcome> {
  const { callId } = running
  void running.inputRequested.then((input) => send('input-needed', { callId, input: viewInput(input) }))
  void running.pending.then((approval) => send('pending', { callId, approval }))
  return running.outcome
}

/** Follows a call of another process. */
async function followRecorded(
  host: HostServices,
  { request: { userId }, callId, gone }: { request: CallRequest; callId: string; gone: AbortController },
  send: Send,
): Promise<CallOutcome | undefined> {
  const { signal } = gone
  const first = await host.records.settled(userId, callId, { signal })
  if (first.status === 'pending' && first.approvalId !== null)
    await send('pending', { callId, approval: await host.approvals.get(userId, first.approvalId) })
  return first.outcome ?? (await host.records.settled(userId, callId, { signal, untilOver: true })).outcome
}

function ended(callId: string, outcome: CallOutcome): [event: string, data: object] {
  if (!('error' in outcome)) return ['result', { callId, ...resultOf(outcome) }]
  const { code, message: detail, action, errors } = outcome.error
  return ['failed', { callId, status: outcome.status, code, detail, action, ...(errors ? { errors } : {}) }]
}
