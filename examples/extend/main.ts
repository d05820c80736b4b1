/** Code of the app in the pipeline of a call: a policy function, a stage and hooks. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineTool, rule } from '@loadout/core'

const refund = defineTool({ name: 'refund', execute: ({ cents }) => `refunded ${cents}` })

await using host = createHost({
  toolkits: { tools: [refund] },
  policy: {
    rules: [rule('app.*', 'allow')],
    // Sees the arguments, and can only tighten the decision of the rules.
    decide: ({ ref, arguments: { cents } }) =>
      ref === 'app.refund' && Number(cents) > 10_000
        ? { decision: 'deny', reason: 'Refunds over $100 need a person.' }
        : undefined,
  },
})

host.use({
  name: 'currency',
  before: 'validation', // here a stage may change the arguments
  run: ({ arguments: args }, { next }) => next({ arguments: { currency: 'USD', ...args } }),
})

const log: string[] = []
host.onCall({ after: ({ userId, tool }, { status }) => void log.push(`${userId} ${tool} ${status}`) })

const ann = host.user('ann')
await ann.call('app.refund', { cents: 500 })
await ann.call('app.refund', { cents: 50_000 })
//#endregion
assert.deepEqual(log, ['ann refund ok', 'ann refund denied'])
