/** Runs and the processes that work on them. */
import type { RunWork } from '../../../runs/engine.ts'
import { equal, eventually } from '../../check.ts'
import { done, type EngineProcess, later, type Make, START } from './case.ts'

export const processCases: Record<string, (make: Make) => Promise<void>> = {
  'only one process at a time executes a run': async (make) => {
    let working = 0
    let most = 0
    let total = 0
    const work: RunWork = async () => {
      most = Math.max(most, ++working)
      total++
      await later(5)
      working--
      return done(1)
    }
    const all = await Promise.all([make(work), make(work), make(work)])
    for (const { engine } of all) await engine.open()
    const { id } = await (all[0] as EngineProcess).engine.start(START)
    await Promise.all(all.map(({ engine }) => engine.settled('ann', id)))
    equal([most, total], [1, 1], 'how often it was worked on')
  },

  'the process that started a run begins it, even when other processes are notified': async (make) => {
    const begun: string[] = []
    const as = (name: string) => make(async () => done(begun.push(name)))
    const [first, second] = [await as('first'), await as('second')]
    for (const { engine } of [first, second]) await engine.open()
    for (let i = 0; i < 8; i++) await first.engine.start(START)
    await eventually(() => begun.length === 8, 'eight runs')
    equal([...new Set(begun)], ['first'], 'who began them')
  },
}
