/** A custom toolkit: tools made of code, with secrets, other tools and a function of the app; tried before it is saved. */
import assert from 'node:assert/strict'
//#region example
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { createServices } from '@loadout/core/services'

await using host = createServices({
  executor: quickjs(),
  policy: [rule('*', 'allow')],
  functions: { rate: ({ currency }: { currency: string }) => ({ EUR: 1, USD: 1.1 })[currency] ?? 0 },
})
await host.ready()

const money = { type: 'object', properties: { cents: { type: 'integer' }, currency: { type: 'string' } } }
const prices = {
  name: 'Prices',
  secrets: { MARGIN: '25' },
  tools: [
    { name: 'rate', description: 'The rate of a currency.', inputSchema: money, execute: 'ref:rate' },
    {
      name: 'quote',
      description: 'What a customer pays.',
      inputSchema: money,
      tools: ['prices.rate'],
      execute: `
        const rate: number = Number(await prices.rate({ currency: input.currency }))
        if (rate === 0) throw new Error('no rate for ' + input.currency)
        console.log('rate', rate)
        return { cents: Math.round(input.cents * rate * (1 + Number(secrets.MARGIN) / 100)) }
      `,
    },
  ],
}

// A try stores nothing of it: the outcome, what the code logged, and how long it took.
const input = { cents: 1000, currency: 'USD' }
const tried = await host.tryTool({ userId: 'ann' }, { record: prices, tool: 'quote', input })

await host.toolkits.register(prices, { tier: 'user', userId: 'ann' })
const thread = host.thread({ userId: 'ann', threadId: 'shop' })
const quoted = await thread.call({ name: 'prices.quote', arguments: input })
const run = await thread.run(`return (await prices.quote({ cents: 2000, currency: 'EUR' })).cents`)
//#endregion
assert.ok('content' in tried.outcome && 'content' in quoted)
assert.deepEqual(tried.outcome.structuredContent, { cents: 1375 })
assert.deepEqual(tried.logs, [{ level: 'log', text: 'rate 1.1' }])
assert.deepEqual(quoted.structuredContent, { cents: 1375 })
assert.equal(run.output, 2500)
const wrong = { name: 'Wrong', tools: [{ name: 'a', inputSchema: { type: 'object' }, execute: 'return (' }] }
await assert.rejects(host.toolkits.register(wrong, { tier: 'user', userId: 'ann' }), { code: 'invalid-input' })
