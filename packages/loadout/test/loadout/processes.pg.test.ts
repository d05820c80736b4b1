/** Two processes over one PostgreSQL: what one does, the other hears of. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { programPath } from '../../../../test/program-path.ts'
import { provenWithin } from '../../../../test/prove/work.ts'
import { newKey, type RemoteHost, startHost } from '../fixtures/remote-host.ts'

const FAULTY = programPath(fileURLToPath(new URL('../fixtures/fault-stdio.ts', import.meta.url)))
const KEY = newKey()

let folder: string
let database: Awaited<ReturnType<typeof createDatabase>>
let one: RemoteHost
let other: RemoteHost
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-two-'))
  database = await createDatabase(inject('postgresUrl'))
  one = await startHost(database.url, KEY)
  other = await startHost(database.url, KEY)
})
afterAll(async () => {
  await Promise.all([one.end(), other.end()])
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** The other process hears of it by itself, and is not asked to look; `prove:timing` says how soon. */
const eventually = (check: () => Promise<boolean>) =>
  provenWithin(1000, () => expect.poll(check, { timeout: 60_000, interval: 20 }).toBe(true))

it('a toolkit that one process adds or removes changes in the other, and running calls finish', async () => {
  const [script, log] = [join(folder, 'slow'), join(folder, 'log')]
  await writeFile(script, JSON.stringify({ at: { 'tools/call': { do: 'delay', ms: 1500 } } }))
  const refs = () => other.do<string[]>({ do: 'refs', userId: 'ann' })
  const call = () => other.do({ do: 'call', userId: 'ann', name: 'slow.echo', arguments: { text: 'hi' } })
  expect(await refs()).toEqual([])
  const input = { name: 'slow', command: process.execPath, args: [FAULTY, script, log], env: { KEY: 's3cret' } }
  expect(await one.do({ do: 'register', userId: 'ann', input })).toBe(1)
  await eventually(async () => (await refs()).includes('slow.echo'))
  expect(await call()).toMatchObject({ status: 'ok' })
  expect(await other.do<string[]>({ do: 'refs', userId: 'bob' })).toEqual([])

  const inFlight = call()
  await expect.poll(() => readFile(log, 'utf8')).toBe('echo\necho\n')
  await one.do({ do: 'remove', userId: 'ann', toolkit: 'slow' })
  await eventually(async () => (await refs()).length === 0)
  expect(await inFlight).toMatchObject({ status: 'ok', content: [{ text: expect.stringContaining('hi') }] })
  expect(await call()).toMatchObject({ status: 'failed' })
  await expect.poll(() => other.do({ do: 'connections' })).toBe(0)
})
