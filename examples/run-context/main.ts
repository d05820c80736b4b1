/** An app tool that reads which run calls it, also when two users run the same workflow at once. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineTool, rule } from '@loadout/core'
import { ambientContext, getExecutionContext } from '@loadout/core/node'

/** Any function below a run reads its context; no caller passes it on. */
const invoice = () => {
  const { principal, runId } = getExecutionContext() ?? {}
  return { for: principal?.userId, run: runId }
}
await using host = createHost({
  toolkits: { tools: [defineTool({ name: 'invoice', description: 'Writes an invoice.', execute: invoice })] },
  policy: { rules: [rule('*', 'allow')] },
  runtime: { runInContext: ambientContext },
})

const billing = { name: 'billing', nodes: [{ id: 'bill', type: 'tool' as const, ref: 'app.invoice' }] }
const runs = await Promise.all(['ann', 'bob'].map((userId) => host.user(userId).workflows.run(billing)))
//#endregion
assert.deepEqual(
  runs.map(({ output }) => output),
  [
    { for: 'ann', run: runs[0]?.id },
    { for: 'bob', run: runs[1]?.id },
  ],
)
