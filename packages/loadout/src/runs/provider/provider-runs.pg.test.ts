/** A program of a provider whose calls two processes read at once, on PostgreSQL: each is made once, and the log has them all. */
import { randomBytes } from 'node:crypto'
import { describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../../test/database.ts'
import { masterKeyRing } from '../../credentials/master-key.ts'
import { createServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import { postgres } from '../../storage/postgres.ts'

const CALLS = 20

describe('a provider program in two processes', () => {
  it('makes each call once and answers it in both', async () => {
    const { url, drop } = await createDatabase(inject('postgresUrl'))
    const made: number[] = []
    const tools = [
      {
        name: 'pay',
        description: 'Pays.',
        inputSchema: { type: 'object' },
        async execute({ id }: { id: number }) {
          made.push(id)
          await new Promise((resolve) => setTimeout(resolve, 20))
          return `paid ${id}`
        },
      },
    ]
    const key = randomBytes(32).toString('base64')
    const open = async () => {
      const storage = postgres({ url, maxConnections: 4 })
      const host = createServices({ storage, keyRing: () => masterKeyRing(key), policy: [rule('*', 'allow')] })
      await host.toolkits.register({ name: 'shop', tools }, { tier: 'app' })
      return host
    }
    const hosts = [await open(), await open()]
    const answers = hosts.map(async (host) => {
      const selection = await host.thread({ userId: 'ann', threadId: 'work' }).select({ prompt: 'pay', limit: 5 })
      const call = (id: number) =>
        selection.call({
          name: 'shop.pay',
          id: `toolu_${id}`,
          arguments: { id },
          caller: { type: 'code', toolId: 'srvtoolu_1' },
        })
      return Promise.all(Array.from({ length: CALLS }, (_, id) => call(id)))
    })
    for (const outcomes of await Promise.all(answers))
      expect(outcomes.map((one) => ('content' in one ? one.content[0]?.text : one.error.message))).toEqual(
        Array.from({ length: CALLS }, (_, id) => `paid ${id}`),
      )
    expect(made.sort((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, id) => id))
    const [run, ...more] = (await hosts[0]?.runs.list('ann')) ?? []
    expect(more).toEqual([])
    const { steps } = (await hosts[1]?.runs.get('ann', run?.id ?? '')) ?? { steps: [] }
    expect(steps.map(({ seq }) => seq)).toEqual(Array.from({ length: CALLS + 1 }, (_, seq) => seq))
    expect(new Set(steps.slice(1).map(({ status }) => status))).toEqual(new Set(['completed']))
    for (const host of hosts) await host.close()
    await drop()
  })
})
