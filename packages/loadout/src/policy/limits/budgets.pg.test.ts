/** A limit lowered in one process applies in another, whatever that one has reserved. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../../test/database.ts'
import { programPath } from '../../../../../test/program-path.ts'
import { provenWithin } from '../../../../../test/prove/work.ts'
import { newKey, type RemoteHost, startHost } from '../../../test/fixtures/remote-host.ts'

const FAULTY = programPath(fileURLToPath(new URL('../../../test/fixtures/fault-stdio.ts', import.meta.url)))
const KEY = newKey()

let folder: string
let database: Awaited<ReturnType<typeof createDatabase>>
let hosts: [RemoteHost, RemoteHost]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-budgets-'))
  database = await createDatabase(inject('postgresUrl'))
  hosts = [await startHost(database.url, KEY), await startHost(database.url, KEY)]
})
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.end()))
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

it('a limit that is lowered from 1,000 to 1 blocks further calls in both processes', async () => {
  const [one, other] = hosts
  const userId = 'ann'
  const script = join(folder, 'script')
  await writeFile(script, '{}')
  await one.do({ do: 'register', userId, input: { name: 'kit', command: process.execPath, args: [FAULTY, script] } })
  const limit = (most: number) =>
    one.do({ do: 'preferences', userId, patch: { costLimits: { maxCallsPerHour: most } } })
  await limit(1000)
  const call = async (host: RemoteHost) =>
    (await host.do<{ status: string }>({ do: 'call', userId, name: 'kit.echo', arguments: {} })).status
  for (let made = 0; made < 3; made++) expect([await call(one), await call(other)]).toEqual(['ok', 'ok'])
  await limit(1)
  expect(await call(one)).toBe('limited')
  // The other is kept busy, so that it never idles and gives back what it holds by itself.
  await provenWithin(1000, () => expect.poll(() => call(other), { timeout: 60_000, interval: 50 }).toBe('limited'))
  for (let tries = 0; tries < 5; tries++) expect([await call(one), await call(other)]).toEqual(['limited', 'limited'])
})
