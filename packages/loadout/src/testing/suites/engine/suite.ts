/**
 * Engine contract as cases for any driver: `for (const { name, run } of engineSuite(open)) …`. A case starts processes
 * in one fresh environment; a killed process does nothing more.
 */

import type { ActiveRun, RunEnd, RunWork, StepResult, StepWork } from '../../../runs/engine.ts'
import { check, equal, eventually, rejects } from '../../check.ts'
import type { SuiteCase } from '../../suite-case.ts'
import {
  done,
  type EngineEnvironment,
  type EngineProcess,
  forever,
  later,
  logged,
  type Make,
  START,
  stepAt,
  stepValue,
} from './case.ts'
import { namedCases } from './named.ts'
import { processCases } from './processes.ts'

export type { EngineEnvironment, EngineProcess }

const cases: Record<string, (make: Make) => Promise<void>> = {
  ...namedCases,
  ...processCases,
  'a run completes and its log records every step': async (make) => {
    const { engine } = await make(async ({ log, input }) => {
      const first = await log.step(stepAt(0, 'one'), stepValue(1))
      const second = await log.step(stepAt(1, 'two'), {
        ...stepValue(0),
        execute: async () => ({ error: { code: 'c', message: 'm' } }),
      })
      return { ...done([input, first, 'error' in second]), logs: [{ level: 'log', text: 'hello' }] }
    })
    const { id } = await engine.start(START)
    const run = await engine.settled('ann', id)
    equal(
      [run.status, (run.output as unknown[])[0], (run.output as unknown[])[2]],
      ['completed', { a: 1 }, true],
      'the run',
    )
    equal(
      run.steps.map((step) => [step.seq, step.status, step.error?.code]),
      [
        [0, 'completed', undefined],
        [1, 'failed', 'c'],
      ],
      'its steps',
    )
    equal(run.logs, [{ level: 'log', text: 'hello' }], 'its words')
    equal(
      (await engine.list('ann')).map((listed) => listed.id),
      [id],
      'the list',
    )
    await rejects(engine.get('bob', id), 'not-found', "another's run")
  },

  'an error in the work fails the run': async (make) => {
    const { engine } = await make(async () => {
      throw new Error('broken')
    })
    const { id } = await engine.start(START)
    equal((await engine.settled('ann', id)).status, 'failed', 'the run')
  },

  'another process finishes the run of a killed process and repeats no completed step': async (make) => {
    const made: string[] = []
    const work =
      (stops: boolean) =>
      async ({ log }: ActiveRun) => {
        const call = (name: string): StepWork => ({
          request: name,
          execute: async () => ({ value: made.push(name) }),
        })
        await log.step(stepAt(0, 'a'), call('a'))
        await log.step(stepAt(1, 'b'), call('b'))
        if (stops) await forever()
        await log.step(stepAt(2, 'c'), call('c'))
        return done(made.length)
      }
    const first = await make(work(true))
    const { id } = await first.engine.start(START)
    await eventually(() => made.length === 2, 'two steps')
    await logged(first, id, ['completed', 'completed'])
    await first.kill()
    const second = await make(work(false))
    await second.engine.open()
    equal((await second.engine.settled('ann', id)).status, 'completed', 'the run')
    equal(made, ['a', 'b', 'c'], 'what was made')
  },

  'an unfinished step is repeated if it is repeatable, else the run has an unknown outcome': async (make) => {
    const started: string[] = []
    const hanging = (name: string): StepWork => ({
      request: name,
      execute: async () => (started.push(name) > 0 ? forever() : { value: 0 }),
    })
    for (const repeatable of [true, false]) {
      const first = await make(async ({ log }) => {
        await log.step(stepAt(0, 'x', repeatable), hanging('x'))
        return done(0)
      })
      const { id } = await first.engine.start(START)
      await eventually(() => started.length > 0, 'the step began')
      await later(50)
      await first.kill()
      started.length = 0
      const second = await make(async ({ log }) =>
        toRunEnd(await log.step(stepAt(0, 'x', repeatable), stepValue('again'))),
      )
      await second.engine.open()
      const run = await second.engine.settled('ann', id)
      equal(run.status, repeatable ? 'completed' : 'outcome-unknown', 'the run')
      if (repeatable) {
        await second.close()
        continue
      }
      const stepId = run.steps[0]?.id ?? ''
      await second.engine.resolve('ann', id, { stepId, decision: 'repeat' })
      equal((await second.engine.settled('ann', id)).output, 'again', 'once somebody said: again')
    }
  },

  'a step with an unknown outcome can be marked as failed': async (make) => {
    const first = await make(async ({ log }) => {
      await log.step(stepAt(0, 'x'), { request: 'x', execute: forever })
      return done(0)
    })
    const { id } = await first.engine.start(START)
    await logged(first, id, ['started'])
    await first.kill()
    const second = await make(async ({ log }) => {
      const answer = await log.step(stepAt(0, 'x'), stepValue(1))
      return 'error' in answer ? done(answer.error.code) : toRunEnd(answer)
    })
    await second.engine.open()
    const run = await second.engine.settled('ann', id)
    await rejects(second.engine.resolve('ann', id, { stepId: 'none', decision: 'fail' }), 'conflict', 'another step')
    await second.engine.resolve('ann', id, { stepId: run.steps[0]?.id ?? '', decision: 'fail' })
    equal((await second.engine.settled('ann', id)).output, 'outcome-unknown', 'what the run heard')
  },

  'a paused run releases its process and resumes in any other process': async (make) => {
    const resolvedApprovals = new Set<string>()
    let executions = 0
    const work: RunWork = async ({ log }) => {
      const before = await log.step(stepAt(0, 'before'), stepValue(7))
      const until = new Date(Date.now() + 60_000)
      const answer = await log.step(stepAt(1, 'asks'), {
        request: 'asks',
        execute: async ({ approvalId }): Promise<StepResult | { pause: { approvalId: string; until: Date } }> => {
          executions++
          if (approvalId !== undefined && resolvedApprovals.has(approvalId)) return { value: approvalId }
          return { pause: { approvalId: approvalId ?? 'q1', until } }
        },
      })
      return 'suspended' in answer ? { status: 'paused' } : done([before, answer].length)
    }
    const first = await make(work, resolvedApprovals)
    const { id } = await first.engine.start(START)
    const paused = await first.engine.settled('ann', id)
    equal([paused.status, paused.steps[1]?.approvalId], ['paused', 'q1'], 'the run')
    await first.kill()
    const second = await make(work, resolvedApprovals)
    await second.engine.open()
    await later(50)
    equal((await second.engine.get('ann', id)).status, 'paused', 'before the answer')
    resolvedApprovals.add('q1')
    await second.engine.wake('ann', id)
    equal((await second.engine.settled('ann', id)).status, 'completed', 'after the answer')
    equal(executions, 2, 'how often it was asked')
  },

  'a decision that arrives while the run is pausing still wakes the run': async (make) => {
    const resolvedApprovals = new Set<string>()
    const { engine } = await make(async ({ log, runId }) => {
      const answer = await log.step(stepAt(0, 'asks'), {
        request: 'asks',
        execute: async ({ approvalId }) =>
          approvalId ? { value: 1 } : { pause: { approvalId: 'q', until: new Date(Date.now() + 60_000) } },
      })
      if (!('suspended' in answer)) return done(1)
      resolvedApprovals.add('q')
      await engine.wake('ann', runId)
      return { status: 'paused' }
    }, resolvedApprovals)
    const { id } = await engine.start(START)
    await eventuallyAsync(async () => (await engine.get('ann', id)).status === 'completed', 'the run goes on')
  },

  'a cancelled run does nothing more in any process': async (make) => {
    let isOver = false
    const first = await make(async ({ signal }) => {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      return done(0)
    })
    const second = await make(async () => done(isOver))
    await first.engine.open()
    const { id } = await first.engine.start(START)
    const run = await second.engine.cancel('ann', id)
    equal(run.status, 'cancelled', 'the run')
    isOver = true
    await second.engine.open()
    await later(100)
    equal((await first.engine.get('ann', id)).status, 'cancelled', 'later')
    await rejects(first.engine.cancel('ann', id), 'conflict', 'a second time')
  },

  'a replay delivers results in their original order': async (make) => {
    const orders: string[] = []
    const work =
      (pauses: boolean, ms: (name: string) => number): RunWork =>
      async ({ log }) => {
        const seen: string[] = []
        const call = (seq: number, name: string) =>
          log
            .step(stepAt(seq, name, true), {
              request: name,
              execute: () => later(ms(name)).then(() => ({ value: name })),
            })
            .then(() => seen.push(name))
        await Promise.all([call(0, 'slow'), call(1, 'fast'), call(2, 'middle')])
        orders.push(seen.join())
        if (pauses) await forever()
        return done(seen)
      }
    const first = await make(work(true, (name) => ({ slow: 60, fast: 1, middle: 30 })[name] ?? 0))
    const { id } = await first.engine.start(START)
    await eventually(() => orders.length === 1, 'the first time')
    await first.kill()
    const second = await make(work(false, () => 0))
    await second.engine.open()
    await second.engine.settled('ann', id)
    equal(orders, ['fast,middle,slow', 'fast,middle,slow'], 'both times')
  },

  'a replay that differs from its log fails with run-drift': async (make) => {
    for (const name of ['other', undefined]) {
      const first = await make(async ({ log }) => {
        await log.step(stepAt(0, 'one'), stepValue(1))
        return forever()
      })
      const { id } = await first.engine.start(START)
      await logged(first, id, ['completed'])
      await first.kill()
      const second = await make(async ({ log }) => {
        if (name) await log.step(stepAt(0, name), stepValue(1))
        return done(1)
      })
      await second.engine.open()
      equal((await second.engine.settled('ann', id)).error?.code, 'run-drift', name ?? 'one that does less')
      await second.close()
    }
  },

  'a closing engine hands its runs to another process': async (make) => {
    let runs = 0
    const work: RunWork = async ({ signal }) => {
      if (++runs > 1) return done('second')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      return done('first')
    }
    const first = await make(work)
    const { id } = await first.engine.start(START)
    await eventually(() => runs === 1, 'it began')
    await first.close()
    const second = await make(work)
    await second.engine.open()
    equal((await second.engine.settled('ann', id)).output, 'second', 'who finished it')
  },
}

/** Run result for the outcome of a step. */
function toRunEnd(answer: Awaited<ReturnType<ActiveRun['log']['step']>>): RunEnd {
  if ('suspended' in answer) return { status: answer.suspended }
  check('value' in answer, 'a value')
  return done(answer.value)
}

async function eventuallyAsync(condition: () => Promise<boolean>, message: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await condition()) return
    await later(20)
  }
  throw new Error(message)
}

export function engineSuite(open: () => Promise<EngineEnvironment>): SuiteCase[] {
  return Object.entries(cases).map(([name, body]) => ({
    name,
    async run() {
      const environment = await open()
      const started: EngineProcess[] = []
      try {
        await body(async (work, resolvedApprovals = new Set()) => {
          const process = await environment.start({ works: { program: work, workflow: work }, resolvedApprovals })
          started.push(process)
          return process
        })
      } finally {
        await Promise.allSettled(started.map((process) => process.close()))
        await environment.close()
      }
    },
  }))
}
