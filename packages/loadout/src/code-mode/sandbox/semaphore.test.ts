import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEEPEST, SandboxSemaphore } from './semaphore.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** What a program calls that is a program in its turn. */
interface Nest {
  owner: string
  inside: Nest[]
}
const nest = (depth: number): fc.Arbitrary<Nest> =>
  fc.record({
    owner: fc.constantFrom('ann', 'bea', 'cat'),
    inside: depth < DEEPEST ? fc.array(nest(depth + 1), { maxLength: 3 }) : fc.constant([]),
  })

describe('sandbox slots', () => {
  it('never deadlock, however programs are nested', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(nest(0), { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), async (all, most) => {
        const places = new SandboxSemaphore(most)
        let ended = 0
        const run = async ({ owner, inside }: Nest, depth: number): Promise<void> => {
          await places.acquire({ owner, depth })
          await Promise.all(inside.map((one) => run(one, depth + 1)))
          places.release({ owner, depth })
          ended++
        }
        const running = Promise.all(all.map((one) => run(one, 0)))
        const late = new Promise((resolve) => setTimeout(resolve, 2000, 'stands'))
        expect(await Promise.race([running.then(() => 'done'), late])).toBe('done')
        const count = ({ inside }: Nest): number => 1 + inside.reduce((sum, one) => sum + count(one), 0)
        expect(ended).toBe(all.reduce((sum, one) => sum + count(one), 0))
      }),
      { numRuns: 60 },
    )
  })

  it('leave room for other owners, who do not wait', async () => {
    const places = new SandboxSemaphore(12)
    const entered: string[] = []
    const enter = (owner: string) => void places.acquire({ owner }).then(() => entered.push(owner))
    for (let i = 0; i < 50; i++) enter('ann')
    await turn()
    expect(entered).toHaveLength(8)
    for (const owner of ['bea', 'cat']) enter(owner)
    await turn()
    expect(entered.slice(8)).toEqual(['bea', 'cat'])
    for (let i = 0; i < 4; i++) enter('dan')
    enter('eve')
    await turn()
    expect(entered.slice(10)).toEqual(['dan', 'dan'])
    // What comes free goes to those who have less of it, whoever waited longer.
    places.release({ owner: 'bea' })
    await turn()
    expect(entered.slice(12)).toEqual(['eve'])
  })

  it('drop a waiting request that is cancelled', async () => {
    const places = new SandboxSemaphore(1)
    await places.acquire({})
    const controller = new AbortController()
    const left = places.acquire({ signal: controller.signal }).catch((reason) => reason)
    const next = places.acquire({}).then(() => 'in')
    controller.abort('gone')
    expect(await left).toBe('gone')
    places.release({})
    expect(await next).toBe('in')
  })
})
