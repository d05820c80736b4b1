/** What a running server says beside its answers: for its owner, without secrets; of the app's servers for operators. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeDrivers } from 'loadout/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FaultScript } from '../../../packages/loadout/src/testing/fault-script.ts'
import { type AppOfUsers, type Ask, appOfUsers } from './testing/app-of-users.ts'

const FAULTY = fileURLToPath(new URL('../../../packages/loadout/src/testing/fault-stdio.ts', import.meta.url))
const SECRET = 'sesame-4711-open'

let folder: string
let app: AppOfUsers
let ann: Ask
let operator: Ask
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-output-'))
  app = appOfUsers({ drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
  ann = app.as('ann')
  operator = app.as('olga', 'operator')
})
afterEach(async () => {
  await app.host.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A server that does this at each call. */
function record(script: FaultScript) {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  writeFileSync(file, JSON.stringify(script))
  return { name: 'kit', command: process.execPath, args: [FAULTY, file], env: { API_KEY: SECRET } }
}
const printing = (text: string) => record({ at: { 'tools/call': { do: 'print', text } } })
const call = (ask: Ask) => ask('POST /api/tools/kit/echo/call', { arguments: {} })
const output = async (ask: Ask) => (await ask('GET /api/mcp/kit/output')).body
const textsOf = ({ items }: { items: Array<{ text: string }> }) => items.map(({ text }) => text)

describe('what it printed', () => {
  it('is there while it runs, line by line, without its secrets and what a terminal would obey', async () => {
    await ann('POST /api/mcp', printing(`\u001B[31mWarning\u001B[0m: slow\nkey is ${SECRET}\u202E!\n`))
    expect(await output(ann)).toEqual({ running: true, items: [] })
    await call(ann)
    await expect
      .poll(async () => (await output(ann)).items)
      .toEqual([
        { source: 'stderr', text: 'Warning: slow' },
        { source: 'stderr', text: 'key is ••• !' },
      ])
  })

  it('stays when it is disconnected, until it runs anew, and goes with the toolkit', async () => {
    await ann('POST /api/mcp', printing('first words\n'))
    await call(ann)
    await expect.poll(async () => textsOf(await output(ann))).toEqual(['first words'])
    const { uscoId } = (await ann('GET /api/mcp/kit')).body
    await app.host.connections.reset(uscoId, 'ann')
    expect(await output(ann)).toEqual({ running: false, items: [{ source: 'stderr', text: 'first words' }] })
    await ann('POST /api/mcp/kit/introspect')
    expect(await output(ann)).toEqual({ running: true, items: [] })
    await ann('DELETE /api/mcp/kit')
    await ann('POST /api/mcp', { name: 'kit', url: 'http://127.0.0.1:9/mcp', enabled: false })
    expect(await output(ann)).toEqual({ running: false, items: [] })
  })

  it('is bounded, and the end of it is kept', async () => {
    await ann('POST /api/mcp', printing(`${'x'.repeat(200)}\n`.repeat(2000)))
    await call(ann)
    await expect.poll(async () => textsOf(await output(ann)).join('\n').length).toBeGreaterThan(4000)
    expect(textsOf(await output(ann)).join('\n').length).toBeLessThanOrEqual(8000)
  })

  it('is nobody else’s; of a server of the app it is the operators’', async () => {
    await ann('POST /api/mcp', printing('of ann\n'))
    await call(ann)
    expect((await app.as('bob')('GET /api/mcp/kit/output')).status).toBe(404)
    await operator('POST /api/app/toolkits', { ...printing('of the app\n'), name: 'shop' })
    await operator('POST /api/tools/shop/echo/call', { arguments: {} })
    expect(await ann('GET /api/mcp/shop/output')).toMatchObject({ status: 403 })
    const seen = async () => textsOf((await operator('GET /api/mcp/shop/output')).body)
    await expect.poll(seen).toEqual(['of the app'])
  })
})
