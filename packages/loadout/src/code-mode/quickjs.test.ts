import { afterAll, describe, expect, it } from 'vitest'
import { expectFailure, expectValue, run } from '../testing/suites/executor/case.ts'
import { executorSuite } from '../testing/suites/executor/suite.ts'
import { quickjs } from './quickjs.ts'

describe('executor: quickjs, in threads', () => {
  const executor = quickjs()
  afterAll(() => executor.close())
  for (const { name, run } of executorSuite(() => executor)) it(name, run)
})

it('closing the executor cancels running programs and rejects new ones', {
  timeout: 120_000,
}, async () => {
  const executor = quickjs({ spares: 0 })
  const never = { call: () => new Promise<never>(() => {}) }
  const [waiting, computing] = [
    expectFailure(executor, 'await kit.slow()', { bridge: never }),
    expectFailure(executor, 'for (;;);'),
  ]
  await expectValue(executor, 'return 1')
  await executor.close()
  expect([(await waiting).code, (await computing).code]).toEqual(['cancelled', 'cancelled'])
  expect((await expectFailure(executor, 'return 1')).code).toBe('sandbox-lost')
})

it('the executor limits concurrent programs and queues the others', async () => {
  const executor = quickjs({ spares: 1, most: 2 })
  let [now, most] = [0, 0]
  let pair = Promise.withResolvers<void>()
  const call = async () => {
    most = Math.max(most, ++now)
    // Each program waits for a second one, however late it starts, and then leaves time for a third.
    const { promise, resolve } = pair
    if (now === 2) {
      pair = Promise.withResolvers()
      resolve()
    }
    await promise
    await new Promise((done) => setTimeout(done, 30))
    now--
    return { value: 1, at: 0 }
  }
  const all = await Promise.all(
    Array.from({ length: 8 }, () => expectValue(executor, 'return kit.slow()', { bridge: { call } })),
  )
  expect(all).toEqual(Array(8).fill(1))
  expect(most).toBe(2)
  await executor.close()
})

it('a program that exceeds a limit makes no more calls', async () => {
  const executor = quickjs({ spares: 1 })
  const made: number[] = []
  const call = async ({ seq }: { seq: number }) => {
    made.push(seq)
    return { value: 1, at: 0 }
  }
  await run(executor, 'for (;;) kit.echo()', { limits: { calls: 5 }, bridge: { call } })
  expect(made).toEqual([])
  await expectValue(executor, 'kit.echo(); kit.echo(); return 1', { bridge: { call } })
  expect(made).toEqual([0, 1])
  await executor.close()
})
