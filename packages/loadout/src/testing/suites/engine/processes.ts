/** Engine cases for runs in several processes. */
import type { RunWork } from '../../../runs/engine.ts'
import { equal, eventually } from '../../check.ts'
import { done, type EngineProcess, later, type Make, START } from './case.ts'

export const processCases: Record<string, (make: Make) => Promise<void>> = {
  'only one process at a time executes a run': async (make) => {
    let working = 0
    let maxConcurrent = 0
    let total = 0
    const work: RunWork = async () => {
      maxConcurrent = Math.max(maxConcurrent, ++working)
      total++
      await later(5)
      working--
      return done(1)
    }
    const processes = await Promise.all([make(work), make(work), make(work)])
    for (const { engine } of processes) await engine.open()
    const { id } = await (processes[0] as EngineProcess).engine.start(START)
    await Promise.all(processes.map(({ engine }) => engine.settled('ann', id)))
    equal([maxConcurrent, total], [1, 1], 'how often it was worked on')
  },

  'the process that started a run begins it, even when other processes are notified': async (make) => {
    const started: string[] = []
    const startProcess = (name: string) => make(async () => done(started.push(name)))
    const first = await startProcess('first')
    const second = await startProcess('second')
    for (const { engine } of [first, second]) await engine.open()
    for (let i = 0; i < 8; i++) await first.engine.start(START)
    await eventually(() => started.length === 8, 'eight runs')
    equal([...new Set(started)], ['first'], 'who began them')
  },
}
