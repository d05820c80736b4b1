/** A custom toolkit: tools made of code, with secrets, other tools and a function of the app; tested before it is saved. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineToolkit, rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'

await using host = createHost({
  executor: quickjs(),
  policy: { rules: [rule('*', 'allow')] },
  toolkits: { functions: { rate: ({ currency }) => (currency === 'USD' ? 1.1 : 1) } },
})
const ann = host.user('ann')

const money = { type: 'object', properties: { cents: { type: 'integer' }, currency: { type: 'string' } } }
const prices = defineToolkit({
  id: 'prices',
  server: {
    type: 'custom',
    secrets: { MARGIN: '25' },
    tools: [
      { name: 'rate', description: 'The rate of a currency.', inputSchema: money, execute: 'ref:rate' },
      {
        name: 'quote',
        description: 'The price for a customer.',
        inputSchema: money,
        tools: ['prices.rate'],
        execute: `
          const rate: number = Number(await prices.rate({ currency: input.currency }))
          console.log('rate', rate)
          return { cents: Math.round(input.cents * rate * (1 + Number(secrets.MARGIN) / 100)) }
        `,
      },
    ],
  },
})

// A test run stores nothing of the toolkit. It returns the outcome, the logs and the duration.
const input = { cents: 1000, currency: 'USD' }
const trial = await host.services.tryTool({ userId: 'ann' }, { record: prices, tool: 'quote', input })

await ann.toolkits.add(prices)
const quote = await ann.call('prices.quote', input)
const run = await ann.thread('shop').run(`return (await prices.quote({ cents: 2000, currency: 'EUR' })).cents`)
//#endregion
assert.ok('content' in trial.outcome && 'content' in quote)
assert.deepEqual(trial.outcome.structuredContent, { cents: 1375 })
assert.deepEqual(trial.logs, [{ level: 'log', text: 'rate 1.1' }])
assert.deepEqual(quote.structuredContent, { cents: 1375 })
assert.equal(run.output, 2500)
const wrong = defineToolkit({
  id: 'wrong',
  server: { type: 'custom', tools: [{ name: 'a', inputSchema: { type: 'object' }, execute: 'return (' }] },
})
await assert.rejects(ann.toolkits.add(wrong), { code: 'invalid-input' })
