/** A declaration file of a user's tools, by which the compiler checks calls and workflows. */
import assert from 'node:assert/strict'
//#region example
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, defineTool } from '@loadout/core'
import { toolTypes } from '@loadout/core/node'
import { z } from 'zod'

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  inputSchema: z.object({ order: z.int() }),
  outputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  execute: () => ({ amount: 12.5 }),
})
await using host = createHost({ toolkits: { tools: [refund] } })

const file = join(await mkdtemp(join(tmpdir(), 'types-')), 'tools.d.ts')
await writeFile(file, toolTypes(await host.user('ann').toolkits.list()))
//#endregion
const text = await readFile(file, 'utf8')
assert.match(text, /declare module '@loadout\/core'/)
assert.match(text, /"app\.refund": \{\n {6}input: \{/)
assert.match(text, /output: \{ amount: number \}/)
