/**
 * Executor cases for determinism: the same program with the same answers repeats its time, randomness and timers, also
 * after a pause.
 */
import type { BridgeCall, BridgeResult } from '../../../code-mode/executor.ts'
import { check } from '../../check.ts'
import { answer, type ExecutorCase, expectFailure, expectSame, expectValue, NOW, run } from './case.ts'

export const sameCases: Record<string, ExecutorCase> = {
  'the clock of a program shows the time of its last tool answer': async (executor) => {
    const source = `
      const times = [Date.now(), new Date().getTime()]
      await kit.echo(); times.push(Date.now())
      await kit.echo(); times.push(Date.now(), +new Date(2026, 0, 1), typeof performance)
      return times`
    const midnight = Date.UTC(2026, 0, 1)
    expectSame(await expectValue(executor, source), [NOW, NOW, NOW + 1000, NOW + 2000, midnight, 'undefined'])
  },

  'the random numbers of a program depend only on its seed': async (executor) => {
    const source = 'return [Math.random(), Math.random(), Math.random()]'
    const [one, again, other] = [
      await expectValue(executor, source, { seed: 'a' }),
      await expectValue(executor, source, { seed: 'a' }),
      await expectValue(executor, source, { seed: 'b' }),
    ] as number[][]
    expectSame(one, again, 'the same seed')
    check(one?.[0] !== other?.[0] && one?.[0] !== one?.[1], 'another seed, and another number')
    check(
      one?.every((n) => n >= 0 && n < 1),
      'between 0 and 1',
    )
  },

  'timers do not wait in real time and advance the clock of the program': async (executor) => {
    const source = `
      const order = []
      setTimeout(() => order.push('late'), 5000)
      setTimeout((what) => order.push(what), 1000, 'early')
      const gone = setTimeout(() => order.push('gone'), 10); clearTimeout(gone)
      let ticks = 0
      const every = setInterval(() => { if (++ticks === 3) clearInterval(every) }, 100)
      await new Promise((resolve) => setTimeout(resolve, 60_000))
      return { order, ticks, slept: Date.now() - ${NOW} }`
    // A program that waited in real time would reach this limit.
    const limits = { wallMs: 50_000 }
    expectSame(await expectValue(executor, source, { limits }), { order: ['early', 'late'], ticks: 3, slept: 60_000 })
    const race = `
      const late = new Promise((_, reject) => setTimeout(() => reject(new Error('too late')), 5000))
      return Promise.race([kit.echo('in time'), late])`
    expectSame(await expectValue(executor, race), 'in time', 'an answer that comes before the time')
    const slow = race.replace('5000', '500')
    const { message } = await expectFailure(executor, slow)
    check(message.includes('too late'), 'an answer that comes after it, by the time that it carries')
    check(
      (
        await expectFailure(executor, "setTimeout(() => { throw new Error('x') }); await kit.slow(); await 1")
      ).message.includes('x'),
      'what a timer throws',
    )
  },

  'a program ends as paused when the bridge pauses it and can be run again': async (executor) => {
    const source = `
      const log = [await kit.echo(1), Math.random(), Date.now()]
      console.log('asked'); log.push(await kit.echo('pause')); console.log('answered')
      return [...log, Math.random(), Date.now()]`
    const recorded: BridgeResult[] = []
    const pausing = async (call: BridgeCall): Promise<BridgeResult> => {
      if (call.arguments[0] === 'pause') return { pause: true }
      const result = await answer(call)
      recorded.push(result)
      return result
    }
    const paused = await run(executor, source, { bridge: { call: pausing } })
    expectSame([paused.status, paused.usage.calls, paused.logs.length], ['paused', 2, 1])
    const calls: number[] = []
    const replaying = async (call: BridgeCall): Promise<BridgeResult> => {
      calls.push(call.seq)
      return recorded[call.seq] ?? answer(call)
    }
    const again = await expectValue(executor, source, { bridge: { call: replaying } })
    expectSame(calls, [0, 1], 'the calls of the second run')
    expectSame(await expectValue(executor, source), again, 'as if it had never paused')
  },

  'a program repeats its behavior for the same answers in the same order': async (executor) => {
    const source = `
      const done = []
      await Promise.all([3, 1, 2].map(async (n) => {
        const got = await kit.echo(n)
        done.push([got, Math.random(), Date.now()])
        if (Math.random() < 0.9) done.push(await kit.echo(got * 10))
        console.log(n, done.length)
      }))
      return done`
    const record = async (call: (made: BridgeCall) => Promise<BridgeResult>) => {
      const calls: BridgeCall[] = []
      const execution = await run(executor, source, {
        bridge: {
          call: (made) => {
            calls.push(made)
            return call(made)
          },
        },
      })
      const { status, logs } = execution
      return { calls, status, logs, value: execution.status === 'completed' ? execution.value : undefined }
    }
    const first = await record(answer)
    expectSame(first.status, 'completed')
    for (let i = 0; i < 5; i++) expectSame(await record(answer), first, `run ${i}`)
  },

  'a program leaves no state for the next program': async (executor) => {
    const spoil = `
      globalThis.left = 1; Array.prototype.left = 2; Object.prototype.left = 3
      Promise.prototype.then = null; JSON.stringify = () => '"left"'; Math.random = () => 0.5; Date.now = () => 1
      console.log = null; kit = null; delete globalThis.setTimeout`
    const look = `return [typeof left, [].left, ({}).left, await kit.echo(1), Date.now() > 1, typeof setTimeout, Math.random() === 0.5]`
    for (let i = 0; i < 4; i++) {
      await run(executor, spoil)
      expectSame(
        await expectValue(executor, look),
        ['undefined', null, null, 1, true, 'function', false],
        `after ${i + 1}`,
      )
    }
  },
}
