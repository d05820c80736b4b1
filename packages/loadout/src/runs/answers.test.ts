/** Chat answers over the embedded engine: readers come and go, in any process, while the answer goes on. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { embeddedEngines } from '../../test/fixtures/embedded-engines.ts'
import { type SharedPglite, sharedPglite } from '../../test/fixtures/shared-pglite.ts'
import { memory } from '../storage/memory.ts'
import type { Storage } from '../storage/storage.ts'
import { type AnswerAddress, type Answers, createAnswers } from './answers.ts'
import type { ActiveRun, RunEnd, RunPart } from './engine.ts'

const scope = { userId: 'ann', threadId: 't' }
const text = (delta: string) => ({ type: 'text-delta', id: '0', delta })
const DONE: RunEnd = { status: 'completed', output: {} }

let storage: Storage
let cleanups: Array<() => unknown>
let cancelled: AnswerAddress[]

let pglite: SharedPglite | undefined
afterAll(() => pglite?.close())
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean()
})

const STORAGES = {
  memory,
  async pglite() {
    pglite ??= await sharedPglite()
    return pglite.open()
  },
}

/** A process that executes answers. */
async function startProcess(work: (run: ActiveRun) => Promise<RunEnd>) {
  const { engine, kill, close } = await embeddedEngines(storage).start({ works: {}, resolvedApprovals: new Set() })
  const answers = createAnswers({ storage, engine })
  cleanups.push(close, () => answers.close())
  answers.serve({ work, onCancelled: async (answer) => void cancelled.push(answer) })
  await engine.open()
  return { answers, kill }
}

async function readAll(answers: Answers, answerId: string, after?: number): Promise<RunPart[]> {
  const found: RunPart[] = []
  for await (const part of answers.read({ ...scope, answerId }, { after })) found.push(part)
  return found
}

const aborted = ({ signal }: ActiveRun) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

describe.each(Object.entries(STORAGES))('an answer on %s', (_, open) => {
  beforeEach(async () => {
    storage = await open()
    await storage.ready()
    cleanups = [() => storage.close()]
    cancelled = []
  })

  it('gives a reader the parts that it missed and then the live ones', async () => {
    const gate = Promise.withResolvers<void>()
    const { answers } = await startProcess(async ({ parts }) => {
      await parts.append([text('a'), text('b')])
      await gate.promise
      await parts.append([text('c')])
      return DONE
    })
    const other = await startProcess(async () => DONE)
    const answerId = await answers.start(scope, {})
    const reader = other.answers.read({ ...scope, answerId })
    expect((await reader.next()).value).toEqual({ number: 1, part: text('a') })
    expect(await answers.active('ann', 't')).toBe(answerId)
    const later = readAll(answers, answerId, 1)
    gate.resolve()
    expect(await later).toEqual([
      { number: 2, part: text('b') },
      { number: 3, part: text('c') },
    ])
    expect((await reader.next()).value).toEqual({ number: 2, part: text('b') })
    expect((await reader.next()).value).toEqual({ number: 3, part: text('c') })
    expect((await reader.next()).done).toBe(true)
    expect(await answers.active('ann', 't')).toBeUndefined()
  })

  it('goes on without its readers', async () => {
    const gate = Promise.withResolvers<void>()
    const { answers } = await startProcess(async ({ parts }) => {
      await parts.append([text('a')])
      await gate.promise
      await parts.append([text('b')])
      return DONE
    })
    const answerId = await answers.start(scope, {})
    const gone = new AbortController()
    for await (const _ of answers.read({ ...scope, answerId }, { signal: gone.signal })) gone.abort()
    gate.resolve()
    expect((await readAll(answers, answerId)).map(({ part }) => part.delta)).toEqual(['a', 'b'])
  })

  it('has one active answer per thread, and deletes the parts of earlier ones', async () => {
    const gate = Promise.withResolvers<void>()
    const { answers } = await startProcess(async ({ parts }) => {
      await parts.append([text('a')])
      await gate.promise
      return DONE
    })
    const first = await answers.start(scope, {})
    await expect(answers.start(scope, {})).rejects.toMatchObject({ code: 'conflict' })
    gate.resolve()
    expect(await readAll(answers, first)).toHaveLength(1)
    const second = await answers.start(scope, {})
    expect(await readAll(answers, second)).toHaveLength(1)
    expect(await answers.parts({ ...scope, answerId: first })).toEqual([])
  })

  it('is cancelled from another process, which tells the readers', async () => {
    const { answers } = await startProcess(async (run) => {
      await run.parts.append([text('a')])
      return aborted(run)
    })
    const answerId = await answers.start(scope, {})
    const reader = answers.read({ ...scope, answerId })
    await reader.next()
    const other = await startProcess(async () => DONE)
    await other.answers.cancel({ ...scope, answerId })
    expect((await reader.next()).value).toEqual({ number: 2, part: { type: 'abort' } })
    expect((await reader.next()).done).toBe(true)
    expect(cancelled).toEqual([{ ...scope, answerId }])
    await other.answers.cancel({ ...scope, answerId })
    expect(cancelled).toHaveLength(1)
  })

  it('discards the parts of a step that broke off, for readers before and after', async () => {
    const dead = await startProcess(async (run) => {
      await run.parts.append([text('kept'), text('half')])
      return aborted(run)
    })
    const answerId = await dead.answers.start(scope, {})
    const before: RunPart[] = []
    const reader = dead.answers.read({ ...scope, answerId })
    for (let count = 0; count < 2; count++) before.push((await reader.next()).value as RunPart)
    await dead.kill()
    const { answers } = await startProcess(async ({ parts }) => {
      expect(parts.stored).toEqual(before)
      await parts.discard(2, { type: 'data-reset' })
      await parts.append([text('whole')])
      return DONE
    })
    const marker = { number: 3, part: { type: 'data-reset' }, discards: 2 }
    const whole = { number: 4, part: text('whole') }
    expect(await readAll(answers, answerId, 2)).toEqual([marker, whole])
    expect(await readAll(answers, answerId)).toEqual([{ number: 1, part: text('kept') }, whole])
    expect([(await reader.next()).value, (await reader.next()).value]).toEqual([marker, whole])
  })

  it('refuses unknown answers, those of other threads and users, and starts without a handler', async () => {
    const { answers } = await startProcess(async () => DONE)
    const answerId = await answers.start(scope, {})
    await readAll(answers, answerId)
    const missing = { code: 'not-found' }
    await expect(answers.read({ ...scope, answerId: 'run_x' }).next()).rejects.toMatchObject(missing)
    await expect(answers.read({ ...scope, threadId: 'u', answerId }).next()).rejects.toMatchObject(missing)
    await expect(answers.read({ ...scope, userId: 'bob', answerId }).next()).rejects.toMatchObject(missing)
    await expect(answers.cancel({ ...scope, userId: 'bob', answerId })).rejects.toMatchObject(missing)
    const { engine, close } = await embeddedEngines(storage).start({ works: {}, resolvedApprovals: new Set() })
    const unserved = createAnswers({ storage, engine })
    cleanups.push(close, () => unserved.close())
    await expect(unserved.start(scope, {})).rejects.toMatchObject({ code: 'function-missing' })
  })
})
