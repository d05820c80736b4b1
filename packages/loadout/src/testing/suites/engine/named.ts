/** Engine cases for workflow steps: named steps, and steps reused from other runs. */
import type { ActiveRun, StepWork } from '../../../runs/engine.ts'
import { equal, eventually } from '../../check.ts'
import { done, forever, later, logged, type Make, START, stepAt } from './case.ts'

export const namedCases: Record<string, (make: Make) => Promise<void>> = {
  'a replay matches named steps in any order and numbers the steps of a nested program separately': async (make) => {
    const made: string[] = []
    const call = (name: string, ms = 0): StepWork => ({
      request: name,
      execute: () => later(ms).then(() => ({ value: made.push(name) > 0 ? name : '' })),
    })
    const named = (path: string) => ({ path, key: 'k#', kind: 'call', repeatable: false })
    const within = async ({ log }: ActiveRun, ms: number) => {
      const inner = log.within('code')
      const seen: unknown[] = []
      const both = [inner.step(stepAt(0, 'slow'), call('slow', ms)), inner.step(stepAt(1, 'fast'), call('fast'))]
      await Promise.all(both.map((step) => step.then((answer) => seen.push('value' in answer && answer.value))))
      return seen
    }
    const first = await make(async (run) => {
      await Promise.all([run.log.step(named('b'), call('b')), within(run, 60)])
      return forever()
    })
    const { id } = await first.engine.start({ ...START, kind: 'workflow' })
    await eventually(() => made.length === 3, 'three steps')
    await logged(first, id, ['completed', 'completed', 'completed'])
    await first.kill()
    const second = await make(async (run) => {
      const [a, b, seen] = await Promise.all([
        run.log.step(named('a'), call('a')),
        run.log.step(named('b'), call('b')),
        within(run, 0),
      ])
      const inside = await run.log.step(
        { ...named('outer'), repeatable: true },
        { request: 'o', execute: async () => ({ suspended: 'paused' }) },
      )
      return done(
        [a, b].map((result) => 'value' in result && result.value).concat(seen as never, 'suspended' in inside),
      )
    })
    await second.engine.open()
    const run = await second.engine.settled('ann', id)
    equal(run.output, ['a', 'b', 'fast', 'slow', true], 'what it heard')
    equal([...made].sort(), ['a', 'b', 'fast', 'slow'], 'what was made')
    equal(new Set(run.steps.map(({ seq }) => seq)).size, 4, 'their numbers')
  },

  'a run reuses completed steps of another run and does not repeat them': async (make) => {
    const made: string[] = []
    const { engine } = await make(async ({ log }) => {
      for (const path of ['a', 'b'])
        await log.step(
          { path, key: 'k#', kind: 'call', repeatable: false },
          { request: path, execute: async () => ({ value: made.push(path) }) },
        )
      return done(made)
    })
    const now = new Date()
    const completedStep = {
      seq: 0,
      key: 'a k#',
      kind: 'call',
      status: 'completed',
      requestJson: 'a',
      startedAt: now,
      endedAt: now,
    } as const
    const resultJson = { order: 0, at: now.getTime(), result: { value: 7 } }
    const { id } = await engine.start({ ...START, kind: 'workflow', steps: [{ ...completedStep, resultJson }] })
    equal((await engine.settled('ann', id)).output, ['b'], 'what was made')
  },
}
