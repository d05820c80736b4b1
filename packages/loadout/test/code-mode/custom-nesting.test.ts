/** Code that calls code: more of them at once than there are sandboxes, and nobody waits for ever. */
import { afterEach, expect, it } from 'vitest'
import { provenWithin } from '../../../../test/prove/work.ts'
import { quickjs } from '../../src/code-mode/quickjs.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'

let host: HostServices
afterEach(() => host.close())

const chain = (deep: number) =>
  Array.from({ length: deep }, (_, n) => ({
    name: `t${n}`,
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
    tools: ['mine.*'],
    execute: n === deep - 1 ? 'return ["the last"]' : `return await call('mine.t${n + 1}', {})`,
  }))

it('concurrent programs with custom tools nested four deep all complete', async () => {
  host = createServices({ executor: quickjs({ most: 2, spares: 1 }), policy: [rule('*', 'allow')] })
  await host.ready()
  await host.toolkits.register({ name: 'mine', tools: chain(4) }, { tier: 'app' })
  // A program that waited for a sandbox for ever would end with its time, and fail.
  const runs = await provenWithin(14_000, () =>
    Promise.all(
      ['ann', 'bea', 'cat', 'dan'].map((userId) =>
        host.thread({ userId, threadId: 't' }).run({ program: 'return await mine.t0({})', limits: { wallMs: 60_000 } }),
      ),
    ),
  )
  expect(runs.map(({ status, output }) => [status, output])).toEqual(runs.map(() => ['completed', ['the last']]))
})
