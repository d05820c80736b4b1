/**
 * Chat answers as runs. An answer goes on without its readers: any client attaches to it in any process, gets the parts
 * that it missed, and then the live ones. A thread has at most one active answer.
 */
import { HostError } from '../errors.ts'
import type { JsonObject } from '../schema/json.ts'
import type { RunRow } from '../schema/records/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { createRowChanges } from '../storage/watch-row.ts'
import type { Engine, RunPart, RunWork } from './engine.ts'
import { PARTS, partsOf, partsRow } from './parts.ts'
import { FINISHED } from './run-rows.ts'

export interface AnswerAddress {
  userId: string
  threadId: string
  answerId: string
}

/** Executes answers; set by the part of the app that has models. */
export interface AnswerHandler {
  work: RunWork
  /** Stores the message of a cancelled answer from its parts. */
  onCancelled(answer: AnswerAddress, input: JsonObject): Promise<void>
}

export interface ReadAnswerOptions {
  /** Number of the last part that the reader has. @default 0 */
  after?: number | undefined
  signal?: AbortSignal | undefined
}

export interface Answers {
  /** Sets the handler and starts queued answers. */
  serve(handler: AnswerHandler): void
  /** Starts an answer. Throws `conflict` if the thread has an active one. */
  start(scope: Omit<AnswerAddress, 'answerId'>, input: JsonObject): Promise<string>
  /** ID of the active answer of a thread. */
  active(userId: string, threadId: string): Promise<string | undefined>
  /** Throws `conflict` if the thread has an active answer. */
  assertIdle(userId: string, threadId: string): Promise<void>
  /** Streams the parts of an answer until it is over. Throws `not-found` for an unknown answer. */
  read(answer: AnswerAddress, options?: ReadAnswerOptions): AsyncGenerator<RunPart>
  /** All stored parts. */
  parts(answer: AnswerAddress): Promise<RunPart[]>
  /** Cancels an answer in whichever process it runs; one that is over stays as it is. */
  cancel(answer: AnswerAddress): Promise<void>
  close(): void
}

/** Max wait between two reads, in case a change event is lost. */
const WAIT_MS = 1000
const PAGE = 500
/** Answers of a thread whose parts are deleted when the next one starts. */
const MAX_OLD = 5

export function createAnswers({ storage, engine }: { storage: Storage; engine: Engine }): Answers {
  const changes = createRowChanges(storage, 'runs')
  let handler: AnswerHandler | undefined
  const user = <T>(userId: string, work: (tx: Transaction) => Promise<T>) => storage.transaction({ userId }, work)

  const latest = (userId: string, threadId: string, limit: number) =>
    user(userId, (tx) =>
      tx.list('runs', { where: { userId, threadId, kind: 'answer' }, order: 'desc' as const, limit }),
    )
  const active = async (userId: string, threadId: string) =>
    (await latest(userId, threadId, 1)).find(({ status }) => !FINISHED.has(status))?.runId
  const assertIdle = async (userId: string, threadId: string) => {
    const answerId = await active(userId, threadId)
    if (answerId !== undefined) throw isBusy(answerId)
  }
  const own = async ({ userId, threadId, answerId }: AnswerAddress): Promise<RunRow> => {
    const row = await user(userId, (tx) => tx.get('runs', answerId))
    if (row?.kind !== 'answer' || row.threadId !== threadId) throw noAnswer(answerId)
    return row
  }
  const partsAfter = async ({ userId, answerId: runId }: AnswerAddress, after: string | undefined) => {
    const where = { userId, runId, kind: PARTS }
    const query = { where, limit: PAGE, ...(after === undefined ? {} : { after }) }
    const rows = await user(userId, (tx) => tx.list('steps', query))
    return { parts: rows.flatMap(partsOf), last: rows.at(-1)?.stepId ?? after, isPage: rows.length === PAGE }
  }
  const parts = async (answer: AnswerAddress) => {
    const found: RunPart[] = []
    for (let page = await partsAfter(answer, undefined); ; page = await partsAfter(answer, page.last)) {
      found.push(...page.parts)
      if (!page.isPage) return found
    }
  }

  /** The message of an ended answer is stored, so its parts have no reader any more. */
  async function deleteOldParts(userId: string, threadId: string): Promise<void> {
    for (const { runId } of await latest(userId, threadId, MAX_OLD))
      await user(userId, async (tx) => {
        for (const { stepId } of await tx.list('steps', { where: { userId, runId, kind: PARTS }, limit: 100_000 }))
          await tx.delete('steps', stepId)
      })
  }

  return {
    serve(next) {
      handler = next
      engine.serve('answer', (run) => next.work(run))
    },
    active,
    assertIdle,
    async start({ userId, threadId }, input) {
      if (!handler) throw notServed()
      await assertIdle(userId, threadId)
      await deleteOldParts(userId, threadId)
      const { id } = await engine.start({ userId, threadId, kind: 'answer', input })
      return id
    },
    parts,
    async *read(answer, { after = 0, signal } = {}) {
      let last: string | undefined
      let seen = after
      await own(answer)
      for (;;) {
        const stop = new AbortController()
        // Subscribe before reading, so that no change is missed.
        const changed = changes.next(
          answer.answerId,
          WAIT_MS,
          signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
        )
        try {
          const { status } = await own(answer)
          const found = await partsAfter(answer, last)
          last = found.last
          for (const part of found.parts) {
            // Only a reader that has seen discarded parts needs the marker.
            const isNews = part.discards === undefined || seen >= part.discards
            const isNew = part.number > seen
            seen = Math.max(seen, part.number)
            if (isNew && isNews) yield part
          }
          if (signal?.aborted) return
          if (found.parts.length > 0) continue
          if (FINISHED.has(status)) return
          await changed
        } finally {
          stop.abort()
        }
      }
    },
    async cancel(answer) {
      const { status, inputJson } = await own(answer)
      if (FINISHED.has(status)) return
      try {
        await engine.cancel(answer.userId, answer.answerId)
      } catch (error) {
        if (HostError.is(error) && error.code === 'conflict') return
        throw error
      }
      await appendAborted(answer)
      await handler?.onCancelled(answer, inputJson)
    },
    close: () => changes.close(),
  }

  /** Tells readers that the answer was cancelled. No process owns the run any more, so nobody else appends. */
  async function appendAborted({ userId, answerId: runId }: AnswerAddress): Promise<void> {
    await user(userId, async (tx) => {
      const steps = await tx.list('steps', { where: { userId, runId }, limit: 100_000 })
      const seq = steps.reduce((most, step) => Math.max(most, step.seq), -1) + 1
      const first = steps.filter(({ kind }) => kind === PARTS).reduce((most, row) => Math.max(most, lastNumber(row)), 0)
      await tx.insert('steps', partsRow({ userId, runId }, seq, { first: first + 1, parts: [{ type: 'abort' }] }))
      await tx.update('runs', runId, { set: { updatedAt: new Date() } })
    })
  }
}

const lastNumber = (row: Parameters<typeof partsOf>[0]) => partsOf(row).at(-1)?.number ?? 0

const noAnswer = (id: string) =>
  new HostError('not-found', {
    detail: `The thread has no answer "${id.slice(0, 80)}".`,
    action: 'Read `activeAnswerId` of the thread.',
  })
const isBusy = (id: string) =>
  new HostError('conflict', {
    detail: `The thread is answering already: answer "${id}" is active.`,
    action: 'Wait for the answer, or cancel it.',
  })
const notServed = () =>
  new HostError('function-missing', {
    detail: 'This host has no handler for chat answers.',
    action: 'Call `services.answers.serve(answerHandler({ host, models }))` first.',
  })
