import { expect, it } from 'vitest'
import { compileGlob } from '../../packages/loadout/src/schema/glob.ts'
import { isTiming, newWork } from './work.ts'

const work = newWork()
const pattern = compileGlob('*[a]b*')
const match = (times: number) => {
  for (let n = 0; n < times; n++) pattern.matches('a'.repeat(100))
}
const bound = (steps: number) => ({ steps: isTiming ? 0 : steps, ms: isTiming ? 0 : 1 })

it('work.within fails when a piece of work takes more steps than its bound', async () => {
  expect(() => work.within(bound(1_000), () => match(100))).toThrow()
  await expect(work.within(bound(1_000), async () => match(100))).rejects.toThrow()
  expect(work.within({ steps: 100_000, ms: 10_000 }, () => 'done')).toBe('done')
})

it('work.perTurn fails when one turn of the event loop takes more steps than its bound', async () => {
  const inTurns = async () => {
    for (let n = 0; n < 20; n++) {
      match(5)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await expect(work.perTurn(bound(10_000), async () => match(100))).rejects.toThrow()
  await work.perTurn({ steps: 10_000, ms: 10_000 }, inTurns)
})
