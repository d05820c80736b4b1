/** Two processes over one PostgreSQL: what one does, the other sees within a second. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import type { LineCommand } from '../testing/host-by-lines.ts'

const HOST = fileURLToPath(new URL('../testing/host-by-lines.ts', import.meta.url))
const FAULTY = fileURLToPath(new URL('../testing/fault-stdio.ts', import.meta.url))
const KEY = randomBytes(32).toString('base64')

interface RemoteHost {
  do<T>(command: LineCommand): Promise<T>
  end(): Promise<void>
}

async function startHost(url: string): Promise<RemoteHost> {
  const child = spawn(process.execPath, [HOST, url, KEY], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number, (line: { answer?: unknown; error?: string }) => void>()
  const lines = createInterface({ input: child.stdout })
  const ready = once(lines, 'line')
  lines.on('line', (line) => {
    const said = JSON.parse(line)
    waiting.get(said.id)?.(said)
  })
  await ready
  let next = 0
  return {
    do: <T>(command: LineCommand) =>
      new Promise<T>((resolve, reject) => {
        const id = ++next
        waiting.set(id, ({ answer, error }) => (error ? reject(new Error(error)) : resolve(answer as T)))
        child.stdin.write(`${JSON.stringify({ id, ...command })}\n`)
      }),
    async end() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

let folder: string
let database: Awaited<ReturnType<typeof createDatabase>>
let one: RemoteHost
let other: RemoteHost
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-two-'))
  database = await createDatabase(inject('postgresUrl'))
  one = await startHost(database.url)
  other = await startHost(database.url)
})
afterAll(async () => {
  await Promise.all([one.end(), other.end()])
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

async function withinASecond(check: () => Promise<boolean>): Promise<void> {
  const start = performance.now()
  for (;;) {
    const held = await check()
    const took = performance.now() - start
    if (held) return
    if (took > 1000) throw new Error('It took longer than a second.')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

it('a toolkit that one adds is usable in the other; removed, it is gone there, and calls in flight finished', async () => {
  const script = join(folder, 'slow')
  await writeFile(script, JSON.stringify({ at: { 'tools/call': { do: 'delay', ms: 1500 } } }))
  const refs = () => other.do<string[]>({ do: 'refs', userId: 'ann' })
  const call = () => other.do({ do: 'call', userId: 'ann', name: 'slow.echo', arguments: { text: 'hi' } })
  expect(await refs()).toEqual([])
  const input = { name: 'slow', command: process.execPath, args: [FAULTY, script], env: { KEY: 's3cret' } }
  expect(await one.do({ do: 'register', userId: 'ann', input })).toBe(1)
  await withinASecond(async () => (await refs()).includes('slow.echo'))
  expect(await call()).toMatchObject({ status: 'ok' })
  expect(await other.do<string[]>({ do: 'refs', userId: 'bob' })).toEqual([])

  const inFlight = call()
  await new Promise((resolve) => setTimeout(resolve, 300))
  await one.do({ do: 'remove', userId: 'ann', toolkit: 'slow' })
  await withinASecond(async () => (await refs()).length === 0)
  expect(await inFlight).toMatchObject({ status: 'ok', content: [{ text: expect.stringContaining('hi') }] })
  expect(await call()).toMatchObject({ status: 'failed' })
  await expect.poll(() => other.do({ do: 'connections' }), { timeout: 5000 }).toBe(0)
})
