/** A tool of the app that knows which run calls it, also where two users run the same workflow at once. */
import assert from 'node:assert/strict'
//#region example
import { defineTool, rule } from '@loadout/core'
import { ambientContext, getExecutionContext } from '@loadout/core/node'
import { createServices } from '@loadout/core/services'

/** Anywhere below a run: nobody hands the context on. */
const invoice = () => {
  const { principal, runId } = getExecutionContext() ?? {}
  return { for: principal?.userId, run: runId }
}
const tools = [defineTool({ name: 'invoice', description: 'Writes an invoice.', execute: invoice })]
await using host = createServices({ runInContext: ambientContext, policy: [rule('*', 'allow')], tools })

const definition = { name: 'billing', nodes: [{ id: 'bill', type: 'tool', ref: 'app.invoice' }] }
const runs = await Promise.all(['ann', 'bob'].map((userId) => host.workflows.run(userId, { definition })))
//#endregion
assert.deepEqual(
  runs.map(({ output }) => output),
  [
    { for: 'ann', run: runs[0]?.id },
    { for: 'bob', run: runs[1]?.id },
  ],
)
